//! No delta, valid, damaged or forged, causes a panic, and a delta is accepted if and only if it is valid
//! according to the format document. A delta of it without changes has the same mappings.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_snapshot::{DeltaEncoder, EncodeError, Index, Options, max_compressed_length};
use hedgerow_snapshot_fuzz::forge_delta::{ForgedDelta, ForgedFrame, ForgedObject, HOLE};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum File<'a> {
    /// The end of a file of this size.
    Bytes { tail: &'a [u8], size: u64 },
    /// A delta with a matching digest.
    Forged { delta: Delta<'a>, changes: Vec<Change<'a>>, size_change: i8 },
    /// The same, with some bytes replaced after the digest was computed.
    Damaged { delta: Delta<'a>, changes: Vec<(u16, u8)> },
}

/// A delta that is nearly valid.
#[derive(Arbitrary, Debug)]
struct Delta<'a> {
    exponent: u8,
    own: Vec<Frame>,
    objects: Vec<(&'a str, Vec<Frame>)>,
    mappings: Vec<Mapping>,
    last_length: u16,
}

#[derive(Arbitrary, Debug)]
struct Frame {
    gap: u8,
    compressed_length: u8,
    blocks: u8,
    rest: u8,
}

#[derive(Arbitrary, Debug)]
enum Mapping {
    Hole(u16),
    /// The next blocks of a frame, after some that are skipped.
    Data {
        frame: u8,
        skipped: u8,
        blocks: u8,
    },
    /// The next blocks of the next frame that no mapping has used.
    Next {
        skipped: u8,
        blocks: u8,
    },
}

/// A change of a field.
#[derive(Arbitrary, Debug)]
enum Change<'a> {
    Head { magic: bool, version: u16, digest_function: u8, level: u8 },
    PieceSize(u32),
    ImageSize(u64),
    Reserved([u8; 3]),
    Depth(u32),
    Base { at: u8, identity: u8, size: u64, reserved: [u8; 6] },
    Reference { at: u8, reference: &'a [u8], length: Option<u16> },
    Frame { at: u8, file_offset: i16, compressed_length: i16, raw_length: i16, object: i8 },
    FrameReserved { at: u8, reserved: [u8; 3] },
    Mapping { at: u8, blocks: i16, frame: i8, block: i8 },
    AnyMapping { at: u8, blocks: u32, frame: u32, block: u32 },
    SwapMappings(u8, u8),
    SwapFrames(u8, u8),
    Data(i8),
    Rest(u8),
}

impl Delta<'_> {
    fn forge(&self) -> ForgedDelta {
        let mut forged = ForgedDelta::new(1 << (12 + self.exponent % 4));
        for frame in &self.own {
            let offset = 40 + forged.data.len() as u64;
            add_frame(&mut forged, frame, 0, offset);
            let length = forged.frames.last().map_or(0, |last| last.compressed_length);
            forged.data.resize(forged.data.len() + length as usize, 0);
        }
        for (number, (reference, frames)) in self.objects.iter().take(9).enumerate() {
            let mut offset = 32;
            for frame in frames {
                offset += u64::from(frame.gap);
                add_frame(&mut forged, frame, number as u8 + 1, offset);
                offset += forged.frames.last().map_or(0, |last| last.compressed_length.into());
            }
            forged.base(offset.max(129), reference);
        }
        self.add_mappings(&mut forged);
        // The last block may be shorter.
        let cut = u64::from(self.last_length % 4096);
        forged.image_size = forged.image_size.saturating_sub(cut);
        forged
    }

    fn add_mappings(&self, forged: &mut ForgedDelta) {
        let mut used = vec![0_u32; forged.frames.len() + 1];
        let mut next = 0;
        for mapping in &self.mappings {
            let (frame, skipped, blocks) = match *mapping {
                Mapping::Hole(blocks) => {
                    forged.hole(blocks.into());
                    continue;
                }
                Mapping::Data { frame, skipped, blocks } => (frame.into(), skipped % 4, blocks),
                Mapping::Next { skipped, blocks } => {
                    next += 1;
                    (next - 1, skipped % 2, blocks)
                }
            };
            let frame = frame % used.len();
            let blocks = u32::from(blocks % 5);
            let block = used[frame] + u32::from(skipped);
            forged.mapping(blocks, frame as u32, block);
            used[frame] = block + blocks;
        }
    }
}

fn add_frame(forged: &mut ForgedDelta, frame: &Frame, object: u8, offset: u64) {
    let rest = if frame.rest < 128 { 0 } else { u32::from(frame.rest) };
    let raw_length = (u32::from(frame.blocks % 8) + 1) * 4096 - rest;
    forged.frame(object, offset, frame.compressed_length.into(), raw_length);
}

impl Change<'_> {
    fn apply(&self, forged: &mut ForgedDelta) {
        match *self {
            Self::Head { magic, version, digest_function, level } => {
                forged.magic = if magic { *b"hedgehog" } else { *b"hedgevhs" };
                (forged.version, forged.digest_function) = (version, digest_function);
                forged.level = level;
            }
            Self::PieceSize(size) => forged.piece_size = size,
            Self::ImageSize(size) => forged.image_size = size,
            Self::Reserved(reserved) => forged.reserved = reserved,
            Self::Depth(depth) => forged.depth = depth,
            Self::Base { at, identity, size, reserved } => {
                if let Some(base) = forged.objects.get_mut(usize::from(at % 8)) {
                    (base.identity, base.size) = ([identity % 8; 32], size);
                    base.reserved = reserved;
                }
            }
            Self::Reference { at, reference, length } => {
                if let Some(base) = forged.objects.get_mut(usize::from(at % 8)) {
                    base.reference = reference.to_vec();
                    base.reference_length = length;
                }
            }
            Self::Frame { at, file_offset, compressed_length, raw_length, object } => {
                if let Some(frame) = forged.frames.get_mut(usize::from(at % 16)) {
                    frame.file_offset = frame.file_offset.wrapping_add_signed(file_offset.into());
                    frame.compressed_length =
                        frame.compressed_length.wrapping_add_signed(compressed_length.into());
                    frame.raw_length = frame.raw_length.wrapping_add_signed(raw_length.into());
                    frame.object = frame.object.wrapping_add_signed(object);
                }
            }
            Self::FrameReserved { at, reserved } => {
                if let Some(frame) = forged.frames.get_mut(usize::from(at % 16)) {
                    frame.reserved = reserved;
                }
            }
            Self::Mapping { at, blocks, frame, block } => {
                if let Some(mapping) = forged.mappings.get_mut(usize::from(at % 16)) {
                    mapping.blocks = mapping.blocks.wrapping_add_signed(blocks.into());
                    mapping.frame = mapping.frame.wrapping_add_signed(frame.into());
                    mapping.block = mapping.block.wrapping_add_signed(block.into());
                }
            }
            Self::AnyMapping { at, blocks, frame, block } => {
                if let Some(mapping) = forged.mappings.get_mut(usize::from(at % 16)) {
                    (mapping.blocks, mapping.frame, mapping.block) = (blocks, frame, block);
                }
            }
            Self::SwapMappings(one, other) => swap(&mut forged.mappings, one, other),
            Self::SwapFrames(one, other) => swap(&mut forged.frames, one, other),
            Self::Data(change) => {
                let length = forged.data.len().saturating_add_signed(change.into());
                forged.data.resize(length, 0);
            }
            Self::Rest(length) => forged.rest = vec![0; length.into()],
        }
    }
}

fn swap<T>(items: &mut [T], one: u8, other: u8) {
    if let Some(most) = items.len().checked_sub(1) {
        items.swap(usize::from(one).min(most), usize::from(other).min(most));
    }
}

/// Returns whether a delta is valid, written naively after the format document.
fn is_valid(forged: &ForgedDelta) -> bool {
    forged.magic == *b"hedgevhs"
        && (forged.version, forged.digest_function) == (2, 1)
        && (1..=19).contains(&forged.level)
        && (12..=24).any(|exponent| forged.piece_size == 1 << exponent)
        && forged.image_size <= 1 << 44
        && forged.reserved == [0; 3]
        && forged.depth > 0
        && are_bases_valid(forged)
        && are_frames_valid(forged)
        && are_mappings_valid(forged)
}

fn are_bases_valid(forged: &ForgedDelta) -> bool {
    let objects = &forged.objects;
    let is_valid = |(number, base): (usize, &ForgedObject)| {
        objects[..number].iter().all(|other| other.identity != base.identity)
            && (129..1 << 53).contains(&base.size)
            && base.reserved == [0; 6]
            && base.reference_length.is_none_or(|it| usize::from(it) == base.reference.len())
            && is_reference_valid(&base.reference)
    };
    objects.len() <= 8 && forged.rest.is_empty() && objects.iter().enumerate().all(is_valid)
}

fn is_reference_valid(reference: &[u8]) -> bool {
    let Ok(reference) = str::from_utf8(reference) else { return false };
    let has_invalid = reference.chars().any(|it| it < ' ' || ('\x7f'..='\u{9f}').contains(&it))
        || reference.contains(['\\', ':']);
    let padded = format!("/{reference}/");
    let leaves = ["//", "/./", "/../"].iter().any(|it| padded.contains(it));
    reference.is_empty() || (reference.len() <= 1024 && !has_invalid && !leaves)
}

fn are_frames_valid(forged: &ForgedDelta) -> bool {
    let is_frame_valid = |frame: &ForgedFrame| {
        (1..=forged.piece_size).contains(&frame.raw_length)
            && (1..=max_compressed_length(frame.raw_length)).contains(&frame.compressed_length)
            && frame.reserved == [0; 3]
    };
    let end_of =
        |frame: &ForgedFrame| u128::from(frame.file_offset) + u128::from(frame.compressed_length);
    let of = |object: u8| forged.frames.iter().filter(move |frame| frame.object == object);
    let mut own_end = 40;
    let is_own_valid = of(0).all(|frame| {
        let is_next = u128::from(frame.file_offset) == own_end;
        own_end = end_of(frame);
        is_next
    });
    let are_others_valid = forged.objects.iter().zip(1..).all(|(base, object)| {
        let mut end = 32;
        of(object).count() > 0
            && of(object).all(|frame| {
                let is_after = u128::from(frame.file_offset) >= end;
                end = end_of(frame);
                is_after && end <= base.size.into()
            })
    });
    forged.frames.iter().all(is_frame_valid)
        && forged.frames.is_sorted_by_key(|frame| frame.object)
        && forged.frames.iter().all(|frame| usize::from(frame.object) <= forged.objects.len())
        && is_own_valid
        && own_end == 40 + forged.data.len() as u128
        && are_others_valid
}

fn are_mappings_valid(forged: &ForgedDelta) -> bool {
    let mut block = 0_u64;
    let mut used = vec![0_u64; forged.frames.len()];
    for mapping in &forged.mappings {
        let start = block * 4096;
        block += u64::from(mapping.blocks);
        if mapping.blocks == 0 || start >= forged.image_size {
            return false;
        }
        if mapping.frame == HOLE {
            if mapping.block != 0 {
                return false;
            }
            continue;
        }
        let Some(frame) = forged.frames.get(mapping.frame as usize) else { return false };
        let used = &mut used[mapping.frame as usize];
        let length = forged.image_size.min(block * 4096) - start;
        let end = u64::from(mapping.block) * 4096 + length;
        if u64::from(mapping.block) < *used || end > u64::from(frame.raw_length) {
            return false;
        }
        *used = u64::from(mapping.block) + u64::from(mapping.blocks);
    }
    let is_divided = forged.mappings.windows(2).any(|pair| {
        let [one, other] = pair else { return false };
        match (one.frame == HOLE, other.frame == HOLE) {
            (true, true) => one.blocks != u32::MAX,
            (false, false) => one.frame == other.frame && one.block + one.blocks == other.block,
            _ => false,
        }
    });
    block == forged.image_size.div_ceil(4096) && !is_divided && used.iter().all(|used| *used > 0)
}

/// Parses a file, and checks the invariants of its index. Returns whether it was accepted.
fn check(tail: &[u8], size: u64) -> bool {
    let Ok(index) = Index::parse(tail, size) else { return false };
    let footer = tail.last_chunk().expect("a tail that was read");
    let tail_length = Index::tail_length(footer, size).expect("a tail that was read");
    assert_eq!(index.file_size(), size);
    let (mut object, mut end) = (0, if index.level().is_some() { 40 } else { 32 });
    for frame in index.frames() {
        if frame.object != object {
            (object, end) = (frame.object, 32);
        }
        assert!(frame.file_offset >= end);
        end = frame.file_offset + u64::from(frame.compressed_length);
        let most = match object {
            0 => size - tail_length,
            base => index.objects()[usize::from(base) - 1].size,
        };
        assert!(end <= most && frame.raw_length <= index.piece_size());
    }
    assert_eq!(index.segments().map(|it| u64::from(it.length)).sum::<u64>(), index.data_size());
    let mut at = 0;
    for segment in index.segments() {
        assert!(segment.image_offset >= at && segment.length > 0);
        at = segment.image_offset + u64::from(segment.length);
        let frame = &index.frames()[segment.frame as usize];
        assert!(segment.frame_offset + segment.length <= frame.raw_length);
    }
    assert!(at <= index.image_size());
    let _ = index.check_start(&[0; Index::START_LENGTH]);
    check_delta(index);
    true
}

/// Checks a delta of this index without changes.
fn check_delta(base: Index) {
    let options = Options { level: 1, piece_size: base.piece_size() };
    let references = vec!["base.vhs"; base.objects().len() + 1];
    let encoder = DeltaEncoder::new(base.image_size(), &options, base.clone()).unwrap();
    let start = encoder.header();
    match encoder.finish(&references) {
        Ok(tail) => {
            let file = [start, tail].concat();
            let delta = Index::parse(&file, file.len() as u64).unwrap();
            delta.check_start(file.first_chunk().unwrap()).unwrap();
            assert_eq!(delta.mappings(), base.mappings());
            assert_eq!(delta.frames().len(), base.frames().len());
            for (frame, old) in delta.frames().iter().zip(base.frames()) {
                assert_eq!((frame.digest, frame.file_offset), (old.digest, old.file_offset));
            }
        }
        Err(EncodeError::BaseObjects { found }) => {
            assert_eq!((found, base.objects().len()), (9, 8))
        }
        Err(error) => panic!("{error}"),
    }
}

fuzz_target!(|file: File<'_>| {
    match file {
        File::Bytes { tail, size } => {
            check(tail, size);
            check(tail, tail.len() as u64);
            let delta = [tail, &(tail.len().saturating_sub(8) as u32).to_le_bytes(), b"\0vhsd"];
            check(&delta.concat(), tail.len() as u64 + 49);
        }
        File::Forged { delta, changes, size_change } => {
            let mut forged = delta.forge();
            changes.iter().for_each(|change| change.apply(&mut forged));
            let file = forged.file();
            let size = file.len() as u64;
            let is_accepted = check(&file, size.saturating_add_signed(size_change.into()));
            // The bytes of frames are not needed to parse the tail, only their length.
            let length = forged.data.len().checked_add_signed(size_change.into());
            let is_valid = length.is_some_and(|length| {
                forged.data.resize(length, 0);
                is_valid(&forged)
            });
            assert_eq!(is_accepted, is_valid);
        }
        File::Damaged { delta, changes } => {
            let mut file = delta.forge().file();
            for (at, byte) in changes {
                let length = file.len();
                file[usize::from(at) % length] = byte;
            }
            check(&file, file.len() as u64);
        }
    }
});
