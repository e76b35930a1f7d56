//! No file, valid, damaged or forged, causes a panic, and a file is accepted if and only if it is
//! valid according to the format document.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_snapshot::{FrameKind, Manifest, max_compressed_length};
use hedgerow_snapshot_fuzz::forge::{Forged, ForgedEntry, hole};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum File<'a> {
    /// The end of a file of this size.
    Bytes { tail: &'a [u8], size: u64 },
    /// A file with matching digests.
    Forged { head: Head, entries: Vec<Entry>, size_change: i8 },
    /// The same, with some bytes replaced after the digests were computed.
    Damaged { head: Head, entries: Vec<Entry>, changes: Vec<(u16, u8)> },
}

/// The fields of the manifest that differ from those of a valid file.
#[derive(Arbitrary, Debug)]
struct Head {
    piece_size: Option<u32>,
    image_size: Option<u64>,
    frame_count: Option<u32>,
    version: Option<u16>,
    digest_function: Option<u8>,
    reserved: Option<u8>,
    more_reserved: Option<u32>,
    is_other_magic: bool,
}

#[derive(Arbitrary, Debug)]
enum Entry {
    Data {
        blocks: u8,
        compressed_length: u16,
    },
    Hole {
        blocks: u16,
    },
    /// An entry whose image may end with it.
    End {
        raw_length: u16,
        compressed_length: u16,
    },
    Any {
        raw_length: u32,
        compressed_length: u32,
        kind: u8,
        reserved: [u8; 3],
    },
}

impl Entry {
    fn forge(&self) -> ForgedEntry {
        let (kind, raw_length, compressed_length, reserved) = match *self {
            Self::Data { blocks, compressed_length } => {
                (0, u32::from(blocks) * 4096, compressed_length.into(), [0; 3])
            }
            Self::Hole { blocks } => {
                let raw_length = (u32::from(blocks) % (1 << 14)) * 4096;
                (1, raw_length, 14 + raw_length.div_ceil(1 << 17) * 4, [0; 3])
            }
            Self::End { raw_length, compressed_length } => {
                (0, raw_length.into(), compressed_length.into(), [0; 3])
            }
            Self::Any { raw_length, compressed_length, kind, reserved } => {
                (kind, raw_length, compressed_length, reserved)
            }
        };
        ForgedEntry { raw_length, compressed_length, kind, reserved, digest: [7; 32] }
    }
}

fn forge(head: &Head, entries: &[Entry]) -> Forged {
    let mut forged = Forged::new(1 << 20);
    forged.entries = entries.iter().map(Entry::forge).collect();
    let sum = forged.entries.iter().map(|entry| u64::from(entry.raw_length)).sum();
    forged.image_size = head.image_size.unwrap_or(sum);
    forged.frame_count = head.frame_count.unwrap_or(entries.len() as u32);
    forged.piece_size = head.piece_size.unwrap_or(1 << 20);
    forged.version = head.version.unwrap_or(1);
    forged.digest_function = head.digest_function.unwrap_or(1);
    forged.reserved = head.reserved.unwrap_or(0);
    forged.more_reserved = head.more_reserved.unwrap_or(0);
    if head.is_other_magic {
        forged.magic = *b"hedgehog";
    }
    forged
}

/// Returns whether a file is valid, written naively after the format document.
fn is_valid(forged: &Forged) -> bool {
    let is_entry_valid = |(index, entry): (usize, &ForgedEntry)| {
        let is_last = index + 1 == forged.entries.len();
        let raw = entry.raw_length;
        let is_length_valid = match entry.kind {
            0 => {
                let max = if raw <= forged.piece_size { max_compressed_length(raw) } else { 0 };
                (1..=max).contains(&entry.compressed_length)
            }
            1 => raw <= 1 << 26 && entry.compressed_length == 14 + raw.div_ceil(1 << 17) * 4,
            _ => false,
        };
        raw > 0 && is_length_valid && (is_last || raw % 4096 == 0) && entry.reserved == [0; 3]
    };
    let sum: u64 = forged.entries.iter().map(|entry| u64::from(entry.raw_length)).sum();
    forged.magic == *b"hedgevhs"
        && (forged.version, forged.digest_function) == (1, 1)
        && (forged.reserved, forged.more_reserved) == (0, 0)
        && (12..=24).any(|exponent| forged.piece_size == 1 << exponent)
        && forged.image_size == sum
        && forged.frame_count as usize == forged.entries.len()
        && forged.entries.iter().enumerate().all(is_entry_valid)
}

/// Parses a file, and checks the invariants of its manifest. Returns whether it was accepted.
fn check(tail: &[u8], size: u64) -> bool {
    let Ok(manifest) = Manifest::parse(tail, size) else { return false };
    let footer = tail.last_chunk().expect("a tail that was read");
    let tail_length = Manifest::tail_length(footer, size).expect("a tail that was read");
    let (mut image_end, mut file_end) = (0, Manifest::HEADER_LENGTH as u64);
    for (index, frame) in manifest.frames().iter().enumerate() {
        assert_eq!((frame.image_offset, frame.file_offset), (image_end, file_end));
        assert_eq!(frame.index as usize, index);
        assert_eq!(manifest.frame_at(image_end), Some(frame));
        image_end += u64::from(frame.raw_length);
        file_end += u64::from(frame.compressed_length);
        assert_eq!(manifest.frame_at(image_end - 1), Some(frame));
    }
    assert_eq!((manifest.image_size(), manifest.file_size()), (image_end, size));
    assert_eq!(file_end + tail_length, size);
    for part_size in [0, 1 << 16, u32::MAX] {
        let frames = manifest.ranges(part_size).flatten().map(|index| &manifest.frames()[index]);
        let data = frames.filter(|frame| frame.kind == FrameKind::Data);
        assert_eq!(
            data.map(|frame| u64::from(frame.raw_length)).sum::<u64>(),
            manifest.data_size()
        );
    }
    let _ = manifest.check_header(&[0; Manifest::HEADER_LENGTH]);
    true
}

fuzz_target!(|file: File<'_>| {
    match file {
        File::Bytes { tail, size } => {
            check(tail, size);
            check(tail, tail.len() as u64);
        }
        File::Forged { head, entries, size_change } => {
            let forged = forge(&head, &entries);
            let file = forged.file();
            // The file has no frames, which are not needed to parse the tail.
            let lengths = forged.entries.iter().map(|entry| u64::from(entry.compressed_length));
            let size = lengths.sum::<u64>() + file.len() as u64;
            let is_accepted = check(&file, size.saturating_add_signed(size_change.into()));
            assert_eq!(is_accepted, is_valid(&forged) && size_change == 0);
        }
        File::Damaged { head, entries, changes } => {
            let mut file = forge(&head, &entries).file();
            file.splice(32..32, hole(4096));
            for (at, byte) in changes {
                let length = file.len();
                file[usize::from(at) % length] = byte;
            }
            check(&file, file.len() as u64);
        }
    }
});
