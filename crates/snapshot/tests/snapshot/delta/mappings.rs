//! The table of mappings.

use hedgerow_snapshot::{Fault, Index, Mapping};

use super::{assert_accepted, assert_refused, between, exactly, forged, refusal};
use crate::support::forge_delta::{ForgedDelta, HOLE};

/// Returns the offset of a field of a mapping's entry.
fn at(mapping: usize, field: u64) -> impl Fn(&ForgedDelta) -> u64 {
    move |it| it.mapping_at(mapping) + field
}

#[test]
fn mappings_cover_the_image_and_end_with_it() {
    // An empty mapping, a mapping beyond the end, and a mapping after the end.
    for (mapping, found, most) in [(0, 0, 10), (3, 0, 7), (0, 11, 10), (3, 8, 7), (7, u32::MAX, 1)]
    {
        let fault = between(1, most, found.into());
        let field = ("length of the mapping", None);
        assert_refused(|it| it.mappings[mapping].blocks = found, field, at(mapping, 0), fault);
    }
    let size = forged().image_size;
    let field = ("length of the mapping", None);
    let grow = |it: &mut ForgedDelta| {
        it.hole(1);
        it.image_size = size;
    };
    assert_refused(grow, field, at(8, 0), between(1, 0, 1));
}

#[test]
fn mappings_that_leave_a_rest_of_the_image_are_refused() {
    let mut forged = ForgedDelta::new(4096);
    forged.hole(2);
    for (size, covered) in [(8193, 8192), (1 << 44, 8192)] {
        forged.image_size = size;
        let error = refusal(&forged.file());
        assert_eq!((error.field, error.fault), ("end of the mappings", exactly(size, covered)));
        assert_eq!(error.offset, forged.mapping_at(1));
    }
    for size in [4097, 8191, 8192] {
        forged.image_size = size;
        let file = forged.file();
        assert_eq!(Index::parse(&file, file.len() as u64).unwrap().image_size(), size);
    }
}

#[test]
fn the_frame_of_a_mapping_exists_and_holds_its_blocks() {
    for found in [5, 1000, u32::MAX - 1] {
        let fault = between(0, 4, found.into());
        let field = ("frame of the mapping", None);
        assert_refused(|it| it.mappings[0].frame = found, field, at(0, 4), fault);
    }
    // More blocks than the frame has, and blocks beyond its end.
    let field = ("length of the mapping", None);
    assert_refused(|it| it.mappings[5].blocks = 2, field, at(5, 0), between(1, 1, 2));
    assert_refused(|it| it.mappings[1].blocks = 3, field, at(1, 0), between(1, 2, 3));
    let field = ("first block of the mapping", None);
    for found in [1, 4096, u32::MAX] {
        let fault = between(0, 0, found.into());
        assert_refused(|it| it.mappings[5].block = found, field, at(5, 8), fault);
    }
    for found in [2, u32::MAX] {
        let fault = between(1, 1, found.into());
        assert_refused(|it| it.mappings[4].block = found, field, at(4, 8), fault);
    }
    // The incomplete block of a frame, where the image continues; one byte more than the frame has.
    let field = ("length of the mapping", None);
    assert_refused(|it| it.image_size += 1, field, at(7, 0), between(1, 0, 1));
    assert_refused(|it| it.mappings[0].frame = 1, field, at(0, 0), between(1, 0, 1));
    assert_accepted(|it| it.image_size -= 1);
    // A frame without frames.
    let mut forged = ForgedDelta::new(4096);
    forged.mapping(1, 0, 0);
    let error = refusal(&forged.file());
    assert_eq!((error.field, error.fault), ("frame of the mapping", exactly(HOLE.into(), 0)));
}

#[test]
fn the_blocks_of_a_frame_are_used_once_and_in_order() {
    let field = ("first block of the mapping", None);
    assert_refused(|it| it.mappings[2].block = 0, field, at(2, 8), between(1, 1, 0));
    // Out of order: the second block of frame 0 before the first one.
    let swap = |it: &mut ForgedDelta| {
        it.mappings[1].block = 1;
        it.mappings[4].block = 0;
    };
    assert_refused(swap, field, at(4, 8), between(2, 1, 0));
    // Twice: frame 3.
    let fault = between(1, 0, 0);
    assert_refused(|it| it.mappings[6].frame = 3, field, at(6, 8), fault);
}

#[test]
fn holes_have_no_first_block() {
    for found in [1, u32::MAX] {
        let field = ("first block of the mapping", None);
        assert_refused(
            |it| it.mappings[3].block = found,
            field,
            at(3, 8),
            exactly(0, found.into()),
        );
    }
}

#[test]
fn mappings_that_continue_each_other_are_refused() {
    let field = ("mapping", None);
    // Two holes, and two runs of blocks of one frame.
    let holes = |it: &mut ForgedDelta| {
        it.mappings[3].blocks = 2;
        it.mappings.insert(4, it.mappings[3].clone());
        it.mappings[4].blocks = 1;
    };
    assert_refused(holes, field, at(4, 0), Fault::Divided);
    let blocks = |it: &mut ForgedDelta| {
        it.mappings.swap(1, 2);
    };
    assert_refused(blocks, field, at(1, 0), Fault::Divided);
}

#[test]
fn only_the_longest_holes_are_divided() {
    let parse = |holes: &[u32]| {
        let mut forged = ForgedDelta::new(4096);
        for blocks in holes {
            forged.hole(*blocks);
        }
        let file = forged.file();
        Index::parse(&file, file.len() as u64)
    };
    let index = parse(&[u32::MAX, 1]).unwrap();
    assert_eq!(index.image_size(), 1 << 44);
    assert_eq!(index.mappings()[0], Mapping { blocks: u32::MAX, data: None });
    for holes in [[u32::MAX - 1, 1], [u32::MAX - 1, 2], [1 << 31, 1 << 31], [1, u32::MAX]] {
        assert_eq!(parse(&holes).unwrap_err().fault, Fault::Divided);
    }
}
