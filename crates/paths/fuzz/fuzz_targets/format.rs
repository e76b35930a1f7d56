//! No file, valid, damaged or forged, causes a panic, and every error has an offset in the file.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_paths::{PathFilter, PathFilterBuilder, Sizing};
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
    /// The file of these keys, with some bytes replaced.
    Damaged { bits: u16, keys: Vec<&'a [u8]>, changes: Vec<(u16, u8)> },
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
            Self::Damaged { bits, keys, changes } => {
                let sizing = Sizing::Bits(u32::from(*bits).max(1));
                let mut file = PathFilterBuilder::new().sizing(sizing).build(keys).unwrap();
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
            assert!(checked.bits_set() <= u64::from(checked.params().m));
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
