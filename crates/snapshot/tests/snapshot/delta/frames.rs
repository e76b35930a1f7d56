//! The table of frames.

use hedgerow_snapshot::max_compressed_length;

use super::{assert_accepted, assert_refused, between, exactly, forged};
use crate::support::forge_delta::{ForgedDelta, HOLE};

/// Returns the offset of a field of a frame's entry.
fn at(frame: usize, field: u64) -> impl Fn(&ForgedDelta) -> u64 {
    move |it| it.frame_at(frame) + field
}

#[test]
fn every_field_of_a_frame_is_checked() {
    for byte in 0..3 {
        let fault = exactly(0, 1 << (8 * byte));
        let field = ("reserved bytes", Some(2));
        assert_refused(|it| it.frames[2].reserved[byte] = 1, field, at(2, 49), fault);
    }
    for found in [0, 8193, u32::MAX] {
        let fault = between(1, 8192, found.into());
        assert_refused(
            |it| it.frames[2].raw_length = found,
            ("raw length", Some(2)),
            at(2, 44),
            fault,
        );
    }
    for (frame, raw) in [(0, 8192), (2, 8192), (4, 4096)] {
        let most = max_compressed_length(raw);
        for found in [0, most + 1, u32::MAX] {
            let fault = between(1, most.into(), found.into());
            let field = ("compressed length", Some(frame as u32));
            let change = |it: &mut ForgedDelta| it.frames[frame].compressed_length = found;
            assert_refused(change, field, at(frame, 40), fault);
        }
    }
    assert_accepted(|it| {
        it.frames[4].compressed_length = max_compressed_length(4096);
    });
}

#[test]
fn objects_are_in_order_and_each_has_a_frame() {
    let object = |frame: usize, found: u8, least, most| {
        let fault = between(least, most, found.into());
        let field = ("object", Some(frame as u32));
        assert_refused(|it| it.frames[frame].object = found, field, at(frame, 48), fault);
    };
    object(0, 2, 0, 1);
    object(2, 2, 0, 1);
    object(3, 0, 1, 2);
    object(3, 3, 1, 2);
    object(4, 0, 1, 2);
    object(4, 3, 1, 2);
    object(4, u8::MAX, 1, 2);
    // No frame of the last object.
    assert_refused(
        |it| (it.frames[4].object, it.frames[4].file_offset) = (1, 160),
        ("object of the last frame", None),
        at(5, 0),
        exactly(2, 1),
    );
    // No frames at all.
    assert_refused(
        |it| {
            it.frames.clear();
            it.data.clear();
        },
        ("object of the last frame", None),
        at(0, 0),
        exactly(2, 0),
    );
    // No base objects, although frames refer to them.
    let fault = between(0, 0, 1);
    assert_refused(|it| it.objects.clear(), ("object", Some(2)), at(2, 48), fault);
}

#[test]
fn own_frames_follow_each_other_from_the_mark_to_the_manifest() {
    let first = forged().frames[0].compressed_length;
    let second = 40 + u64::from(first);
    let end = second + u64::from(forged().frames[1].compressed_length);
    for (frame, expected) in [(0, 40), (1, second)] {
        for found in [0, expected - 1, expected + 1, u64::MAX] {
            let fault = exactly(expected, found);
            let field = ("offset of the frame", Some(frame as u32));
            assert_refused(|it| it.frames[frame].file_offset = found, field, at(frame, 32), fault);
        }
    }
    // A gap after the last frame, a frame that overlaps the manifest, and data without a frame.
    for change in [-1, 1] {
        assert_refused(
            |it| {
                let length = &mut it.frames[1].compressed_length;
                *length = length.wrapping_add_signed(change);
            },
            ("offset of the manifest", None),
            |_| end,
            exactly(end.wrapping_add_signed(change.into()), end),
        );
    }
    assert_refused(
        |it| it.data.push(0),
        ("offset of the manifest", None),
        |_| end + 1,
        exactly(end, end + 1),
    );
    let mut data = ForgedDelta::new(4096);
    data.data.extend([0; 10]);
    assert_eq!(super::refusal(&data.file()).fault, exactly(40, 50));
}

#[test]
fn frames_of_base_objects_are_in_order_within_their_files() {
    let offset = |frame: usize, found: u64, least, most| {
        let fault = between(least, most, found);
        let field = ("offset of the frame", Some(frame as u32));
        assert_refused(|it| it.frames[frame].file_offset = found, field, at(frame, 32), fault);
    };
    // Within the header; beyond the end; before the end of the frame before it.
    for found in [0, 31, 9951, 1 << 53, u64::MAX] {
        offset(2, found, 32, 9950);
    }
    for found in [32, 81, 9941] {
        offset(3, found, 82, 9940);
    }
    for found in [31, 19_931] {
        offset(4, found, 32, 19_930);
    }
    for (frame, found) in [(3, 82), (3, 9940), (4, 32), (4, 19_930)] {
        assert_accepted(|it| it.frames[frame].file_offset = found);
    }
    // A frame that is longer than its file.
    let field = ("offset of the frame", Some(4));
    let fault = between(32, 0, 40);
    assert_refused(
        |it| {
            it.objects[1].size = 129;
            it.frames[4].compressed_length = 130;
        },
        field,
        at(4, 32),
        fault,
    );
}

#[test]
fn frames_that_no_mapping_uses_are_refused() {
    let mut changed = forged();
    changed.mappings[5].frame = HOLE;
    let error = super::refusal(&changed.file());
    assert_eq!((error.field, error.frame), ("frame", Some(3)));
    assert_eq!(error.fault, hedgerow_snapshot::Fault::Unused);
    assert_eq!(error.offset, changed.frame_at(3));
}
