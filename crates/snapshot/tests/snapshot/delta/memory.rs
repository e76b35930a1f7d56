//! Memory usage of the reader of deltas.

use allocation_counter::measure;
use hedgerow_snapshot::{Index, IndexedFrame, Mapping};

use super::forged;
use crate::support::forge_delta::{ForgedDelta, HOLE};

#[test]
fn claims_of_a_delta_allocate_nothing() {
    let changes: [fn(&mut ForgedDelta); 6] = [
        |it| it.frame_count = Some(1 << 20),
        |it| it.mapping_count = Some(1 << 22),
        |it| it.object_count = Some(8),
        |it| it.frame_count = Some(u32::MAX),
        |it| (it.mapping_count, it.object_count) = (Some(u32::MAX), Some(u8::MAX)),
        |it| it.image_size = u64::MAX,
    ];
    let mut files: Vec<_> = changes
        .into_iter()
        .map(|change| {
            let mut changed = forged();
            change(&mut changed);
            changed.file()
        })
        .collect();
    for length in [105_000_000, u32::MAX, (72 + 8 * 1072) + (52 << 20) + (12 << 22)] {
        let mut file = forged().file();
        let at = file.len() - 9;
        file[at..at + 4].copy_from_slice(&u32::to_le_bytes(length));
        files.push(file);
    }
    for file in &files {
        for size in [file.len() as u64, u64::MAX] {
            let taken = measure(|| assert!(Index::parse(file, size).is_err()));
            assert!(taken.bytes_total < 1000, "{taken:?}");
        }
    }
}

#[test]
fn an_index_allocates_60_bytes_per_frame_and_16_per_mapping() {
    assert_eq!((size_of::<IndexedFrame>() + 4, size_of::<Mapping>()), (60, 16));
    let mut many = ForgedDelta::new(4096);
    many.base(1 << 20, "");
    for number in 0..1000 {
        many.frame(1, 32 + u64::from(number), 1, 4096).mapping(1, number, 0).mapping(1, HOLE, 0);
    }
    let file = many.file();
    let taken = measure(|| drop(Index::parse(&file, file.len() as u64).unwrap()));
    let expected = 1000 * 60 + 2000 * 16;
    assert!((expected..expected + 200).contains(&taken.bytes_max), "{taken:?}");
}
