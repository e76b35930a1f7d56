//! zstd must not decode a delta, which is only a part of an image.

use std::slice::from_ref;

use hedgerow_snapshot::{Manifest, Options};
use zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

use crate::support::{
    delta::{Delta, open_index},
    forge_delta::ForgedDelta,
    generate::text,
    oracle::unzstd,
    snapshot::create,
};

/// Returns deltas: without data, with data of its own, and with data of its own only.
fn deltas() -> Vec<Vec<u8>> {
    let options = Options { piece_size: 1 << 14, ..Options::default() };
    let base_image = text(1 << 16, 1);
    let base_file = create(&base_image, &options);
    let delta = |image: &[u8]| {
        let delta = Delta {
            image,
            base_image: Some(&base_image),
            base: open_index(&base_file).unwrap(),
            changed: from_ref(&(0..64)),
            references: &["base.vhs"],
        };
        delta.create(&options).unwrap()
    };
    let mut changed = base_image.clone();
    changed[9000..30_000].fill(1);
    let other = text(1 << 16, 2);
    vec![ForgedDelta::new(4096).file(), delta(&base_image), delta(&changed), delta(&other)]
}

#[test]
fn zstd_refuses_a_delta() {
    for file in deltas() {
        assert!(unzstd(&file).is_err());
        let mut out = vec![0xaa; 1 << 18];
        assert!(zstd_safe::decompress(&mut out[..], &file).is_err());
        assert!(out.iter().all(|byte| *byte == 0xaa));
        assert!(zstd_safe::find_decompressed_size(&file).is_err());
    }
}

#[test]
fn a_streaming_decoder_fails_before_its_first_byte() {
    for file in deltas() {
        for step in [1, 7, 4096, file.len()] {
            let mut decoder = DCtx::create();
            let mut out = vec![0xaa; DCtx::out_size()];
            let mut taken = 0;
            let failed = file.chunks(step).any(|part| {
                let mut input = InBuffer::around(part);
                while input.pos() < part.len() {
                    let mut output = OutBuffer::around(&mut out[..]);
                    if decoder.decompress_stream(&mut output, &mut input).is_err() {
                        return true;
                    }
                    assert_eq!(output.pos(), 0);
                }
                taken += part.len();
                false
            });
            assert!(failed && taken <= 40, "{taken}");
            assert!(out.iter().all(|byte| *byte == 0xaa));
        }
    }
}

/// The tool `zstd -dcf` copies a file from the first byte that begins no frame, and succeeds. So the mark must
/// begin a frame, which no decoder may decode.
#[test]
fn the_mark_begins_a_frame_with_the_reserved_bit() {
    for file in deltas() {
        let mark = &file[32..40];
        assert_eq!(mark[..4], 0xFD2F_B528_u32.to_le_bytes());
        assert_eq!(mark[4], 0b0000_1000);
        let error = zstd_safe::find_frame_compressed_size(&file[32..]).map_err(get_error_name);
        assert_eq!(error, Err("Unsupported frame parameter"));
        assert_eq!(unzstd(&file), Err("Unsupported frame parameter"));
    }
}

#[test]
fn the_version_of_a_delta_is_in_its_header_and_it_is_not_a_full_snapshot() {
    for file in deltas() {
        assert_eq!(Manifest::check_version(file.first_chunk().unwrap()), Ok(()));
        assert_eq!(file[16..18], [2, 0]);
        // The smallest delta is smaller than any snapshot.
        let error = Manifest::parse(&file, file.len() as u64).unwrap_err();
        let expected = if file.len() < 137 { "file size" } else { "magic number of the footer" };
        assert_eq!(error.field, expected);
    }
}
