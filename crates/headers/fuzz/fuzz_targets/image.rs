//! No image, valid, damaged or forged, causes a panic.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_headers::{HeaderSet, HeaderSetBuilder, ImageError};
use hedgerow_headers_fuzz::forge::{exercise, fix_checksum};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    image: Image<'a>,
    names: Vec<&'a [u8]>,
}

#[derive(Arbitrary, Debug)]
enum Image<'a> {
    /// These bytes, unchanged.
    Bytes(&'a [u8]),
    /// These bytes after the magic number and the version, with a valid checksum.
    Forged(&'a [u8]),
    /// The image of these rules, with some bytes replaced and a valid checksum.
    Damaged { rules: Vec<&'a str>, changes: Vec<(u16, u8)> },
}

impl Image<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut image = match self {
            Self::Bytes(bytes) => return bytes.to_vec(),
            Self::Forged(bytes) => [b"HGHS\x05\0", *bytes].concat(),
            Self::Damaged { rules, changes } => {
                let mut builder = HeaderSetBuilder::new();
                for rule in rules {
                    let _ = builder.rule(rule);
                }
                let mut image = builder.build().image().to_vec();
                for &(at, byte) in changes {
                    let length = image.len();
                    image[usize::from(at) % length] = byte;
                }
                image
            }
        };
        fix_checksum(&mut image);
        if let Err(ImageError::Length { expected, .. }) = HeaderSet::from_image(&image) {
            image.resize(expected.min(1 << 16) as usize, 0);
            fix_checksum(&mut image);
        }
        image
    }
}

fuzz_target!(|input: Input<'_>| {
    let image = input.image.bytes();
    let Ok(borrowed) = HeaderSet::from_image(&image) else {
        return;
    };
    exercise(&borrowed, &input.names);
    let owned =
        HeaderSet::from_image_vec(image.clone()).expect("an image that was accepted before");
    exercise(&owned, &input.names);
});
