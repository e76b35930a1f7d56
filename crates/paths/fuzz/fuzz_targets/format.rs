//! No file, valid, damaged or forged, causes a panic, and every error has an offset in the file.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_paths::{Kind, PathFilter, PathFilterBuilder, Sizing};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    file: File<'a>,
    keys: Vec<&'a [u8]>,
}

#[derive(Arbitrary, Debug)]
enum File<'a> {
    /// These bytes, unchanged.
    Bytes(&'a [u8]),
    /// A first line with these members, and a second line of the length that it requires.
    Forged { before: &'a str, m: u16, k: u8, after: &'a str },
    /// The same for a fuse filter, whose slots are in segments of `l`.
    ForgedFuse { before: &'a str, segments: u8, l: u16, q: u64, s: u64, slots: &'a [u8] },
    /// The file of these keys, with some bytes replaced. Without a number of bits it is a fuse filter.
    Damaged { bits: Option<u16>, keys: Vec<&'a [u8]>, changes: Vec<(u16, u8)> },
}

impl File<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Forged { before, m, k, after } => {
                let bloom = format!("\"n\":1,\"p\":0.5,\"m\":{m},\"k\":{k},\"s\":0");
                let body = "/".repeat(usize::from(*m).div_ceil(6));
                format!("{{{before}\"version\":\"\",\"bloom\":{{{bloom}}}{after}}}\n\"{body}\"")
                    .into_bytes()
            }
            Self::ForgedFuse { before, segments, l, q, s, slots } => {
                let (m, q, s) = (u32::from(*segments) * u32::from(*l), q >> 11, s >> 11);
                let fuse = format!("\"n\":1,\"m\":{m},\"l\":{l},\"q\":{q},\"s\":{s}");
                let mut file = format!("{{{before}\"version\":\"\",\"fuse\":{{{fuse}}}}}\n\"");
                let characters =
                    slots.iter().map(|byte| char::from(b"AZaz09+/"[usize::from(byte % 8)]));
                file.extend(characters.chain(std::iter::repeat('A')).take(4 * m as usize));
                file.push('"');
                file.into_bytes()
            }
            Self::Damaged { bits, keys, changes } => {
                let sizing = Sizing::Bits(bits.map_or(1, |bits| u32::from(bits).max(1)));
                let kind = if bits.is_some() { Kind::Bloom } else { Kind::Fuse };
                let builder = PathFilterBuilder::new().kind(kind).sizing(sizing);
                let mut file = builder.build(keys).unwrap();
                for &(at, byte) in changes {
                    let length = file.len();
                    file[usize::from(at) % length] = byte;
                }
                file
            }
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    let file = input.file.bytes();
    let trusted = PathFilter::parse_trusted(&file);
    let checked = PathFilter::parse(&file);
    match (&trusted, &checked) {
        (Ok(trusted), Ok(checked)) => {
            for key in &input.keys {
                assert_eq!(trusted.has(key), checked.has(key));
            }
            assert!(checked.bits_set() <= 24 * u64::from(checked.params().m));
            let _ = (checked.version(), checked.false_positive_rate(), checked.wildcards());
        }
        (Ok(trusted), Err(error)) => {
            assert_eq!(error.expected, "a character of Base64");
            assert!(error.offset < file.len());
            for key in &input.keys {
                trusted.has(key);
            }
        }
        (Err(one), Err(other)) => {
            assert_eq!(one, other);
            assert!(one.offset <= file.len());
        }
        (Err(error), Ok(_)) => panic!("refused only as a trusted file: {error}"),
    }
});
