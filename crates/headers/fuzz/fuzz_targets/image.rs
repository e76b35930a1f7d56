//! No image, valid, damaged or forged, makes anything panic.
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
    /// These bytes, as they are.
    Bytes(&'a [u8]),
    /// These bytes, behind the magic and the version, and with their checksum.
    Forged(&'a [u8]),
    /// What a builder makes of these rules, with other bytes in these places, and its checksum.
    Damaged { rules: Vec<&'a str>, changes: Vec<(u16, u8)> },
}

impl Image<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut image = match self {
            Self::Bytes(bytes) => return bytes.to_vec(),
            Self::Forged(bytes) => [b"HGHS\x01\0", *bytes].concat(),
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
    let owned = HeaderSet::from_image_vec(image.clone()).expect("the image was taken once");
    exercise(&owned, &input.names);
});
