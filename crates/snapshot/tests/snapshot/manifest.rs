//! Invalid manifests with matching digests. Each is refused with the field, its offset, and what was
//! expected.

use hedgerow_snapshot::{Fault, FormatError, Manifest, max_compressed_length};

use crate::support::{
    forge::Forged,
    generate::text,
    snapshot::{open, restore, verify},
};

/// Returns a file with two data frames and a hole between them, in pieces of 8 KiB.
pub fn forged() -> Forged {
    let mut forged = Forged::new(8192);
    forged.data(&text(4096, 1)).hole(65_536).data(&text(100, 2));
    forged
}

pub fn refusal(file: &[u8]) -> FormatError {
    Manifest::parse(file, file.len() as u64).unwrap_err()
}

/// Asserts that a file with this change is refused for this reason.
#[track_caller]
fn assert_refused(
    change: impl FnOnce(&mut Forged),
    (field, frame, offset): (&str, Option<u32>, u64),
    fault: Fault,
) {
    let mut changed = forged();
    change(&mut changed);
    let error = refusal(&changed.file());
    let found = (error.field, error.frame, error.offset, error.fault);
    assert_eq!(found, (field, frame, offset, fault));
}

/// Returns the offset in the file of a field of the manifest.
pub fn at(offset: u64) -> u64 {
    forged().manifest_at() + offset
}

/// Returns the offset in the file of a field of an entry.
pub fn in_entry(frame: u32, offset: u64) -> u64 {
    forged().entry_at(frame.into()) + offset
}

#[test]
fn a_forged_file_is_valid_until_it_is_changed() {
    let file = forged().file();
    let image = [text(4096, 1), vec![0; 65_536], text(100, 2)].concat();
    assert!(verify(&file).unwrap() == image);
    assert!(restore(&file).unwrap() == image);
}

#[test]
fn every_field_of_the_manifest_is_checked() {
    let magic = u64::from_le_bytes(*b"hedgevhs");
    let other = u64::from_le_bytes(*b"hedgevhz");
    assert_refused(
        |it| it.magic = *b"hedgevhz",
        ("magic number of the manifest's content", None, at(0)),
        Fault::Magic { expected: magic, found: other },
    );
    for found in [0, 2, u16::MAX] {
        assert_refused(
            |it| it.version = found,
            ("version", None, at(8)),
            Fault::NotExactly { expected: 1, found: found.into() },
        );
    }
    for found in [0, 2, u8::MAX] {
        assert_refused(
            |it| it.digest_function = found,
            ("digest function", None, at(10)),
            Fault::NotExactly { expected: 1, found: found.into() },
        );
    }
    assert_refused(
        |it| it.reserved = 1,
        ("reserved byte", None, at(11)),
        Fault::NotExactly { expected: 0, found: 1 },
    );
    assert_refused(
        |it| it.more_reserved = 1 << 31,
        ("reserved bytes", None, at(28)),
        Fault::NotExactly { expected: 0, found: 1 << 31 },
    );
    for found in [0, 2048, 4095, (1 << 24) + 1, 1 << 25, u32::MAX] {
        assert_refused(
            |it| it.piece_size = found,
            ("piece size", None, at(12)),
            Fault::NotBetween { least: 4096, most: 1 << 24, found: found.into() },
        );
    }
    assert_refused(
        |it| it.piece_size = 12_288,
        ("piece size", None, at(12)),
        Fault::NotPowerOfTwo { found: 12_288 },
    );
    for found in [(1 << 44) + 1, u64::MAX] {
        assert_refused(
            |it| it.image_size = found,
            ("image size", None, at(16)),
            Fault::NotBetween { least: 0, most: 1 << 44, found },
        );
    }
    for found in [0, 69_731, 69_733, 1 << 44] {
        assert_refused(
            |it| it.image_size = found,
            ("image size", None, at(16)),
            Fault::NotExactly { expected: 69_732, found },
        );
    }
    for found in [0, 2, 4, u32::MAX] {
        assert_refused(
            |it| it.frame_count = found,
            ("frame count", None, at(24)),
            Fault::NotExactly { expected: 3, found: found.into() },
        );
    }
}

#[test]
fn piece_sizes_at_the_limits_are_accepted() {
    for piece_size in [1 << 12, 1 << 24] {
        let mut forged = forged();
        forged.piece_size = piece_size;
        assert_eq!(open(&forged.file()).unwrap().piece_size(), piece_size);
    }
}

#[test]
fn every_field_of_an_entry_is_checked() {
    for found in [2, 255] {
        assert_refused(
            |it| it.entries[1].kind = found,
            ("kind", Some(1), in_entry(1, 8)),
            Fault::NotBetween { least: 0, most: 1, found: found.into() },
        );
    }
    for byte in 0..3 {
        assert_refused(
            |it| it.entries[0].reserved[byte] = 1,
            ("reserved bytes", Some(0), in_entry(0, 9)),
            Fault::NotExactly { expected: 0, found: 1 << (8 * byte) },
        );
    }
    for found in [0, 8193, u32::MAX] {
        assert_refused(
            |it| it.entries[0].raw_length = found,
            ("raw length", Some(0), in_entry(0, 0)),
            Fault::NotBetween { least: 1, most: 8192, found: found.into() },
        );
    }
    for found in [0, (1 << 26) + 1, u32::MAX] {
        assert_refused(
            |it| it.entries[1].raw_length = found,
            ("raw length", Some(1), in_entry(1, 0)),
            Fault::NotBetween { least: 1, most: 1 << 26, found: found.into() },
        );
    }
    for found in [4095, 4097] {
        assert_refused(
            |it| it.entries[0].raw_length = found,
            ("raw length", Some(0), in_entry(0, 0)),
            Fault::NotMultipleOf { unit: 4096, found: found.into() },
        );
        assert_refused(
            |it| it.entries[1].raw_length = found,
            ("raw length", Some(1), in_entry(1, 0)),
            Fault::NotMultipleOf { unit: 4096, found: found.into() },
        );
    }
    let max = max_compressed_length(4096).into();
    for found in [0, max + 1, u32::MAX.into()] {
        assert_refused(
            |it| it.entries[0].compressed_length = found as u32,
            ("compressed length", Some(0), in_entry(0, 4)),
            Fault::NotBetween { least: 1, most: max, found },
        );
    }
    for found in [0, 17, 19, u32::MAX] {
        assert_refused(
            |it| it.entries[1].compressed_length = found,
            ("compressed length", Some(1), in_entry(1, 4)),
            Fault::NotExactly { expected: 18, found: found.into() },
        );
    }
}

#[test]
fn frames_that_do_not_end_at_the_manifest_are_refused() {
    let end = forged().frames.len() as u64 + 32;
    // Frames that overlap the manifest, and frames that leave a gap before it.
    for (found, change) in [(end + 1, 1), (end - 1, -1)] {
        assert_refused(
            |it| {
                let length = &mut it.entries[0].compressed_length;
                *length = length.wrapping_add_signed(change);
            },
            ("offset of the manifest", None, end),
            Fault::NotExactly { expected: found, found: end },
        );
    }
    let mut longer = forged();
    longer.frames.extend([0; 1000]);
    let error = refusal(&longer.file());
    let fault = Fault::NotExactly { expected: end, found: end + 1000 };
    assert_eq!(
        (error.field, error.offset, error.fault),
        ("offset of the manifest", end + 1000, fault)
    );
}

#[test]
fn the_largest_lengths_do_not_overflow() {
    let mut absurd = Forged::new(1 << 24);
    for _ in 0..3000 {
        absurd.hole(4096);
    }
    for entry in &mut absurd.entries {
        entry.raw_length = 1 << 26;
        entry.compressed_length = 2062;
    }
    let error = refusal(&absurd.file());
    let fault = Fault::NotExactly { expected: 3000 << 26, found: 3000 << 12 };
    assert_eq!((error.field, error.fault), ("image size", fault));
}

#[test]
fn holes_at_their_limit_are_accepted() {
    let mut longest = Forged::new(4096);
    longest.hole(1 << 26).hole(1);
    assert_eq!(open(&longest.file()).unwrap().image_size(), (1 << 26) + 1);
}

#[test]
fn data_at_its_limits_is_accepted() {
    let mut forged = forged();
    let max = max_compressed_length(8192);
    forged.frame(hedgerow_snapshot::FrameKind::Data, 8192, &vec![0; max as usize]);
    forged.entries[2].raw_length = 4096;
    forged.image_size += 4096 - 100;
    let manifest = open(&forged.file()).unwrap();
    assert_eq!(manifest.frames()[3].compressed_length, max);
}

#[test]
fn errors_name_what_was_expected_and_what_was_found() {
    let message = |change: fn(&mut Forged)| {
        let mut changed = forged();
        change(&mut changed);
        refusal(&changed.file()).to_string()
    };
    let entry = in_entry(1, 0);
    assert_eq!(
        message(|it| it.version = 2),
        format!("version at byte {}: expected 1, found 2", at(8))
    );
    assert_eq!(
        message(|it| it.magic = *b"hedgevhz"),
        format!(
            "magic number of the manifest's content at byte {}: \
             expected 0x7368766567646568, found 0x7a68766567646568",
            at(0)
        )
    );
    assert_eq!(
        message(|it| it.entries[1].raw_length = 0),
        format!("frame 1: raw length at byte {entry}: expected 1 to 67108864, found 0")
    );
    assert_eq!(
        message(|it| it.entries[1].raw_length = 5000),
        format!("frame 1: raw length at byte {entry}: expected a multiple of 4096, found 5000")
    );
    assert_eq!(
        message(|it| it.piece_size = 5000),
        format!("piece size at byte {}: expected a power of two, found 5000", at(12))
    );
    assert_eq!(refusal(b"short").to_string(), "tail at byte 0: expected at least 9 bytes, found 5");
    let mut damaged = forged().file();
    let digest = in_entry(0, 12) as usize;
    damaged[digest] ^= 1;
    let message = refusal(&damaged).to_string();
    let expected = format!("digest of the manifest at byte {}: ", in_entry(3, 0));
    assert!(message.starts_with(&(expected + "expected digest ")), "{message}");
}
