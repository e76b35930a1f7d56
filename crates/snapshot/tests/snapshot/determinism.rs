//! The same image and options give the same file, whichever worker encodes which piece in which order.

use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_snapshot::{Options, PieceEncoder};

use crate::support::{
    generate::{noise, text},
    snapshot::{Encoded, assemble, create, encode},
};

fn image() -> Vec<u8> {
    let mut image = text(500_000, 1);
    image.resize(900_000, 0);
    image.extend(noise(200_000, 2));
    image.extend(text(300_000, 3));
    image.resize(2_500_000, 0);
    image.extend(b"the end");
    image
}

/// Creates a snapshot with several workers, each of which takes the next free piece.
fn create_with(workers: usize, image: &[u8], options: &Options) -> Vec<u8> {
    let pieces: Vec<_> = image.chunks(options.piece_size as usize).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut encoder = PieceEncoder::new(options).unwrap();
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(index) else { return done };
            done.push((index, encode(&mut encoder, piece)));
            std::thread::yield_now();
        }
    };
    let mut done: Vec<(usize, Vec<Encoded>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    assemble(image.len() as u64, options, done.into_iter().flat_map(|(_, runs)| runs)).unwrap()
}

#[test]
fn any_number_of_workers_makes_the_same_file() {
    let image = image();
    for options in [
        Options { piece_size: 1 << 16, level: 3 },
        Options { piece_size: 1 << 14, level: 9 },
        Options::default(),
    ] {
        let expected = create(&image, &options);
        for workers in [1, 2, 5] {
            assert!(create_with(workers, &image, &options) == expected, "{workers} workers");
        }
    }
}

#[test]
fn a_reused_encoder_gives_the_same_runs_as_a_new_one() {
    let image = image();
    for level in 1..=19 {
        let options = Options { piece_size: 1 << 17, level };
        let pieces = || image.chunks(1 << 17);
        let mut fresh: Vec<_> = pieces()
            .map(|piece| encode(&mut PieceEncoder::new(&options).unwrap(), piece))
            .collect();
        let mut used = PieceEncoder::new(&options).unwrap();
        assert!(pieces().map(|piece| encode(&mut used, piece)).eq(fresh.iter().cloned()));
        fresh.reverse();
        assert!(pieces().rev().map(|piece| encode(&mut used, piece)).eq(fresh), "level {level}");
    }
}
