//! Memory usage. Allocations inside zstd are not counted: its contexts report their size, and that of
//! the decoder never grows.

use allocation_counter::measure;
use hedgerow_snapshot::{Decoder, Encoder, Manifest, Options, PieceEncoder, Run};
use zstd_safe::DCtx;

use crate::support::{
    forge::Forged,
    generate::{noise, text},
    snapshot::{bytes_of, create, open},
};

#[test]
fn a_decoder_does_not_allocate_after_construction() {
    let mut image = text(100_000, 1);
    image.resize(400_000, 0);
    image.extend(noise(100_000, 2));
    image.resize(4 << 20, 0);
    image.resize(70 << 20, 0);
    let file = create(&image, &Options { piece_size: 1 << 16, ..Options::default() });
    let manifest = open(&file).unwrap();
    let mut decoder = Decoder::new(manifest.piece_size()).unwrap();
    let mut out = vec![0; 1 << 16];
    let mut damaged = file.clone();
    for byte in damaged[32..5000].iter_mut().step_by(97) {
        *byte ^= 1;
    }
    let taken = measure(|| {
        for file in [&file, &damaged, &file] {
            for frame in manifest.frames() {
                let length = (frame.raw_length as usize).min(out.len());
                let out = if frame.raw_length as usize > out.len() {
                    &mut out[..0]
                } else {
                    &mut out[..length]
                };
                decoder.begin(frame).unwrap();
                for part in bytes_of(file, frame).chunks(1000) {
                    decoder.push(part);
                }
                let _ = decoder.finish(out);
            }
        }
    });
    assert_eq!(taken.count_total, 0, "{taken:?}");
    assert!(DCtx::create().sizeof() < 100 << 10);
}

#[test]
fn a_decoder_allocates_slightly_more_than_a_piece() {
    for piece_size in [1 << 12, 1 << 20, 1 << 24, u32::MAX] {
        let taken = measure(|| drop(Decoder::new(piece_size)));
        let max = u64::from(piece_size.min(1 << 24)) * 257 / 256 + (12 << 10);
        assert!(taken.bytes_max < max, "{piece_size}: {taken:?}");
    }
}

#[test]
fn claims_of_a_file_allocate_nothing() {
    let mut forged = Forged::new(4096);
    forged.data(&text(4096, 1)).hole(4096);
    forged.frame_count = u32::MAX;
    forged.image_size = 1 << 44;
    let claims = forged.file();
    let mut counts = claims.clone();
    let count_at = counts.len() - 9;
    counts[count_at..][..4].fill(0xff);
    let mut many = claims.clone();
    many[count_at..][..4].copy_from_slice(&(1_u32 << 20).to_le_bytes());
    for file in [&claims, &counts, &many, &vec![0xff; 1000]] {
        for size in [file.len() as u64, u64::MAX] {
            let taken = measure(|| assert!(Manifest::parse(file, size).is_err()));
            assert!(taken.bytes_total < 1000, "{taken:?}");
        }
    }
}

#[test]
fn a_manifest_allocates_64_bytes_per_frame() {
    let image = vec![1; 1000 * 4096];
    let file = create(&image, &Options { piece_size: 4096, level: 1 });
    let taken = measure(|| drop(open(&file).unwrap()));
    assert!((64_000..64_100).contains(&taken.bytes_max), "{taken:?}");
}

#[test]
fn a_piece_encoder_allocates_with_the_first_piece_only() {
    let options = Options { piece_size: 1 << 18, level: 1 };
    let mut encoder = PieceEncoder::new(&options).unwrap();
    let piece = noise(1 << 18, 1);
    let mut encode = || measure(|| assert!(encoder.encode(&piece).unwrap().count() == 1));
    encode();
    assert_eq!(encode().count_total, 0);
}

#[test]
fn a_tebibyte_of_zeros_takes_the_documented_memory() {
    let options = Options::default();
    let taken = measure(|| {
        let mut encoder = Encoder::new(1 << 40, &options).unwrap();
        assert_eq!(encoder.push(&Run::Zeros { length: 1 << 40 }).unwrap().len(), 2062 << 14);
        assert_eq!(encoder.finish().unwrap().len(), 105 + 52 * (1 << 14));
    });
    assert!(taken.bytes_max < 110 << 20, "{taken:?}");
}
