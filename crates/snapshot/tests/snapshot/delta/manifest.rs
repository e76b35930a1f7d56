//! The head and the tables of a delta's manifest. Each invalid value is refused with the field, its offset,
//! and what was expected.

use hedgerow_snapshot::{Digest, Fault, FrameBlocks, Index, MAX_BASE_OBJECTS, Mapping, Segment};

use super::{assert_accepted, assert_refused, between, exactly, forged, refusal};
use crate::support::{
    delta::open_index,
    forge::{Forged, skippable},
    forge_delta::{ForgedDelta, HOLE},
    tail::{HEADER, assert_beginning_is_compared, assert_tail_is_needed, footer},
};

#[test]
fn a_forged_delta_is_valid_until_it_is_changed() {
    let file = forged().file();
    let index = open_index(&file).unwrap();
    assert_eq!((index.image_size(), index.piece_size()), (9 * 4096 + 100, 8192));
    assert_eq!((index.depth(), index.level()), (1, Some(3)));
    assert_eq!(index.file_size(), file.len() as u64);
    let content = &file[forged().content_at() as usize..file.len() - 9 - 32];
    assert_eq!(index.identity(), Digest::of(content));
    let objects: Vec<_> =
        index.objects().iter().map(|it| (it.size, it.reference.as_str())).collect();
    assert_eq!(objects, [(10_000, "base.vhs"), (20_000, "")]);
    let objects: Vec<_> = index.frames().iter().map(|frame| frame.object).collect();
    assert_eq!(objects, [0, 0, 1, 1, 2]);
    assert_eq!(index.mappings()[3], Mapping { blocks: 3, data: None });
    let data = Some(FrameBlocks { frame: 0, block: 1 });
    assert_eq!(index.mappings()[4], Mapping { blocks: 1, data });
    let segments: Vec<_> = index.segments().collect();
    assert_eq!(segments.len(), 7);
    let last = Segment { image_offset: 9 * 4096, frame: 1, frame_offset: 0, length: 100 };
    assert_eq!(segments[6], last);
    assert_eq!(index.data_size(), 6 * 4096 + 100);
}

#[test]
fn an_empty_image_has_empty_tables() {
    let file = ForgedDelta::new(4096).file();
    assert_eq!(file.len(), 129);
    let index = open_index(&file).unwrap();
    assert_eq!((index.image_size(), index.segments().count()), (0, 0));
}

#[test]
fn every_field_of_the_head_is_checked() {
    let at = |offset| move |it: &ForgedDelta| it.content_at() + offset;
    let [magic, other] = [b"hedgevhs", b"hedgevhz"].map(|magic| u64::from_le_bytes(*magic));
    assert_refused(
        |it| it.magic = *b"hedgevhz",
        ("magic number of the manifest's content", None),
        at(0),
        Fault::Magic { expected: magic, found: other },
    );
    for found in [0, 1, 3, u16::MAX] {
        let fault = exactly(2, found.into());
        assert_refused(|it| it.version = found, ("version", None), at(8), fault);
    }
    for found in [0, 2, u8::MAX] {
        let fault = exactly(1, found.into());
        assert_refused(|it| it.digest_function = found, ("digest function", None), at(10), fault);
    }
    for found in [0, 20, u8::MAX] {
        let fault = between(1, 19, found.into());
        assert_refused(|it| it.level = found, ("level", None), at(11), fault);
    }
    for found in [0, 4095, (1 << 24) + 1, u32::MAX] {
        let fault = between(4096, 1 << 24, found.into());
        assert_refused(|it| it.piece_size = found, ("piece size", None), at(12), fault);
    }
    let fault = Fault::NotPowerOfTwo { found: 12_288 };
    assert_refused(|it| it.piece_size = 12_288, ("piece size", None), at(12), fault);
    for found in [(1 << 44) + 1, u64::MAX] {
        let fault = between(0, 1 << 44, found);
        assert_refused(|it| it.image_size = found, ("image size", None), at(16), fault);
    }
    for found in [(1 << 20) + 1, u32::MAX] {
        let fault = between(0, 1 << 20, found.into());
        assert_refused(|it| it.frame_count = Some(found), ("frame count", None), at(24), fault);
    }
    for found in [(1 << 22) + 1, u32::MAX] {
        let fault = between(0, 1 << 22, found.into());
        assert_refused(|it| it.mapping_count = Some(found), ("mapping count", None), at(28), fault);
    }
    for found in [9, u8::MAX] {
        let fault = between(0, 8, found.into());
        assert_refused(
            |it| it.object_count = Some(found),
            ("base object count", None),
            at(32),
            fault,
        );
    }
    for byte in 0..3 {
        let fault = exactly(0, 1 << (8 * byte));
        assert_refused(|it| it.reserved[byte] = 1, ("reserved bytes", None), at(33), fault);
    }
    let fault = between(1, u32::MAX.into(), 0);
    assert_refused(|it| it.depth = 0, ("depth", None), at(36), fault);
}

#[test]
fn fields_of_the_head_are_accepted_at_their_limits() {
    for level in [1, 19] {
        assert_eq!(assert_accepted(|it| it.level = level).level(), Some(level));
    }
    for depth in [1, u32::MAX] {
        assert_eq!(assert_accepted(|it| it.depth = depth).depth(), depth);
    }
    for piece_size in [1 << 13, 1 << 24] {
        assert_eq!(assert_accepted(|it| it.piece_size = piece_size).piece_size(), piece_size);
    }
}

#[test]
fn tables_must_fit_the_manifest() {
    let least = 40 + 2 * 48 + 5 * 52 + 8 * 12 + 32;
    let found = least + 8;
    for (count, more) in [(6, 52), (1 << 20, ((1 << 20) - 5) * 52)] {
        let fault = Fault::TooShort { least: least + more, found };
        let field = ("length of the manifest", None);
        assert_refused(|it| it.frame_count = Some(count), field, |it| it.content_at() - 4, fault);
    }
    for (count, more) in [(9, 12), (1 << 22, ((1 << 22) - 8) * 12)] {
        let fault = Fault::TooShort { least: least + more, found };
        let field = ("length of the manifest", None);
        assert_refused(|it| it.mapping_count = Some(count), field, |it| it.content_at() - 4, fault);
    }
    let fault = Fault::TooShort { least: least + 6 * 48, found };
    let field = ("length of the manifest", None);
    assert_refused(|it| it.object_count = Some(8), field, |it| it.content_at() - 4, fault);
}

#[test]
fn the_skippable_frame_and_the_footer_are_checked() {
    let file = forged().file();
    let content = forged().content_at() as usize;
    let length = (file.len() - 9 - content) as u64;
    let changed = |at: usize, to: &[u8]| {
        let mut changed = file.clone();
        changed[at..][..to.len()].copy_from_slice(to);
        let error = refusal(&changed);
        assert_eq!(error.offset, at as u64, "{error}");
        (error.field, error.fault)
    };
    let magic = |expected, found| Fault::Magic { expected, found };
    assert_eq!(
        changed(content - 8, &[0x59]),
        ("magic number of the manifest", magic(0x184D_2A58, 0x184D_2A59))
    );
    let other = (length as u32 + 1).to_le_bytes();
    let fault = exactly(length, length + 1);
    assert_eq!(changed(content - 4, &other), ("length of the manifest", fault));
    for found in [0, 71, 105_000_000, u32::MAX] {
        let max = 72 + 8 * (48 + 1024) + (52 << 20) + (12 << 22);
        let fault = between(72, max, found.into());
        let field = ("length in the footer", fault);
        assert_eq!(changed(file.len() - 9, &found.to_le_bytes()), field);
    }
    assert_eq!(changed(file.len() - 5, &[1]), ("reserved byte of the footer", exactly(0, 1)));
    // A file with another magic number is no delta.
    let fault = magic(0x8F92_EAB1, u32::from_le_bytes(*b"Vhsd").into());
    assert_eq!(changed(file.len() - 4, b"V"), ("magic number of the footer", fault));

    let mut damaged = file.clone();
    damaged[content + 40] ^= 1;
    let error = refusal(&damaged);
    assert_eq!((error.field, error.offset), ("digest of the manifest", file.len() as u64 - 41));
    assert!(matches!(error.fault, Fault::Digest { .. }));
}

#[test]
fn the_length_in_the_footer_determines_the_tail() {
    let footer = |length| footer(length, *b"vhsd");
    assert!(Index::is_delta(&footer(0)));
    assert!(!Index::is_delta(b"\0\0\0\0\0\xb1\xea\x92\x8f"));
    let max = 72 + 8 * (48 + 1024) + (52 << 20) + (12 << 22);
    for length in [72, 73, max] {
        let tail = 8 + u64::from(length) + 9;
        for file_size in [40 + tail, u64::MAX] {
            assert_eq!(Index::tail_length(&footer(length), file_size), Ok(tail));
        }
        let error = Index::tail_length(&footer(length), 39 + tail).unwrap_err();
        assert_eq!((error.field, error.offset), ("file size", 39 + tail));
    }
    for file_size in 0..129 {
        let error = Index::tail_length(&footer(72), file_size).unwrap_err();
        assert_eq!(error.fault, Fault::TooShort { least: 129, found: file_size });
    }
    // The footer of a full snapshot.
    assert_eq!(Index::tail_length(b"\x02\0\0\0\0\xb1\xea\x92\x8f", 137), Ok(105));
}

#[test]
fn a_tail_may_be_longer_than_needed_but_not_shorter() {
    let file = forged().file();
    let size = file.len() as u64;
    let tail = Index::tail_length(file.last_chunk().unwrap(), size).unwrap();
    assert_tail_is_needed(&file, tail, Index::parse);
}

#[test]
fn the_beginning_is_compared() {
    let file = forged().file();
    let index = open_index(&file).unwrap();
    let beginning = *file.first_chunk().unwrap();
    let fields = [&HEADER[..], &[(32, 8, "mark")]].concat();
    assert_beginning_is_compared(beginning, &fields, |it| index.check_start(it));
}

#[test]
fn the_beginning_of_the_other_version_is_refused() {
    let delta = forged().file();
    let mut plain = Forged::new(8192);
    plain.data(&[1; 100]).data(&[2; 100]).entries[0].raw_length = 4096;
    plain.image_size = 4196;
    let plain = plain.file();
    for (index, other, expected) in [(&delta, &plain, 2), (&plain, &delta, 1)] {
        let index = open_index(index).unwrap();
        let error = index.check_start(other.first_chunk().unwrap()).unwrap_err();
        let fault = exactly(expected, 3 - expected);
        assert_eq!((error.field, error.offset, error.fault), ("version in the header", 16, fault));
    }
}

#[test]
fn every_field_of_a_base_object_is_checked() {
    assert_refused(
        |it| it.objects[1].identity = it.objects[0].identity,
        ("identity of the base object", None),
        |it| it.object_at(1),
        Fault::Repeated,
    );
    for found in [0, 128, 1 << 53, u64::MAX] {
        let fault = between(129, (1 << 53) - 1, found);
        let field = ("size of the base object", None);
        assert_refused(|it| it.objects[0].size = found, field, |it| it.object_at(0) + 32, fault);
    }
    for byte in 0..6 {
        let fault = exactly(0, 1 << (8 * byte));
        let field = ("reserved bytes", None);
        assert_refused(
            |it| it.objects[1].reserved[byte] = 1,
            field,
            |it| it.object_at(1) + 42,
            fault,
        );
    }
    assert_accepted(|it| it.objects[0].size = (1 << 53) - 1);
}

#[test]
fn eight_base_objects_are_accepted_and_nine_are_not() {
    let with = |count: u8| {
        let mut forged = ForgedDelta::new(4096);
        for number in 1..=count {
            forged.base(129, "").frame(number, 32, 1, 4096).mapping(1, u32::from(number) - 1, 0);
        }
        forged.file()
    };
    let file = with(8);
    assert_eq!(open_index(&file).unwrap().objects().len(), MAX_BASE_OBJECTS as usize);
    assert_eq!(refusal(&with(9)).fault, between(0, 8, 9));
}

#[test]
fn nothing_is_between_the_manifest_and_the_footer() {
    let mut file = forged().file();
    let end = file.len() - 9;
    file.splice(end..end, skippable(0x184D_2A58, b""));
    assert_eq!(refusal(&file).field, "magic number of the manifest");
}

#[test]
fn errors_name_what_was_expected_and_what_was_found() {
    let message = |change: fn(&mut ForgedDelta)| {
        let mut changed = forged();
        change(&mut changed);
        refusal(&changed.file()).to_string()
    };
    let (base, frame) = (forged().object_at(0), forged().frame_at(0));
    let (mapping, reference) = (forged().mapping_at(0), forged().reference_at(0));
    assert_eq!(
        message(|it| it.objects[0].reference = b"../base.".to_vec()),
        format!(
            "reference at byte {reference}: expected a relative path without empty segments, \".\", \
             \"..\", \"\\\", \":\" and control characters, found another"
        )
    );
    assert_eq!(
        message(|it| it.objects[1].identity = [0; 32]),
        format!(
            "identity of the base object at byte {}: expected different values, found one twice",
            base + 48
        )
    );
    assert_eq!(
        message(|it| it.mappings.swap(1, 2)),
        format!(
            "mapping at byte {}: expected one mapping, found two that continue each other",
            mapping + 12
        )
    );
    // A hole in place of the mapping that uses frame 4.
    assert_eq!(
        message(|it| it.mappings[6].frame = HOLE),
        format!(
            "frame 4: frame at byte {}: expected a frame that a mapping uses, found another",
            frame + 4 * 52
        )
    );
}
