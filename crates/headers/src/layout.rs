//! The layout of a compiled image, a position-independent sequence of bytes.
//!
//! All numbers are little-endian. A header of 48 bytes is followed by six sections without
//! gaps, whose lengths follow from the header.
//!
//! | offset | width | field |
//! |---|---|---|
//! | 0 | 4 | magic, `HGHS` |
//! | 4 | 2 | version, 5 |
//! | 6 | 1 | log2 of the number of slots, 3 to 16; 0: no table of exact rules and no prefix filter |
//! | 7 | 1 | log2 of the number of bits in the prefix filter, 6 to 22; 0 if there is none |
//! | 8 | 1 | mode: 0 strips what the rules match, 1 keeps it |
//! | 9 | 1 | spelling: 0 matches every equivalent one, 1 only exact ones; always 1 in mode 1 |
//! | 10 | 4 | zero |
//! | 14 | 2 | length of the shortest prefix rule; 0 if there is none, or no prefix filter |
//! | 16 | 4 | number of rules |
//! | 20 | 4 | number of trie nodes |
//! | 24 | 4 | length of the text |
//! | 28 | 4 | zero |
//! | 32 | 8 | seed of the hash |
//! | 40 | 8 | checksum of all other bytes |
//!
//! | section | length | holds |
//! |---|---|---|
//! | displacements | 2 × slots / 4 | a displacement per bucket of exact rules (`exact_table.rs`) |
//! | slots | 4 × slots | fingerprints and numbers of the exact rules |
//! | prefix filter | bits / 8 | the beginnings of the prefix rules, hashed (`prefix_filter.rs`) |
//! | nodes | 16 × nodes | the trie (`trie.rs`) |
//! | rules | 8 × rules | the offset of each rule in the text, sorted (`rule_table.rs`) |
//! | text | | the names and prefixes, folded (`spelling.rs`) |

use alloc::vec::Vec;
use core::ops::Range;

use crate::{
    bytes::{u16_at, u32_at, u64_at},
    image_error::ImageError,
    mix::mix,
    mode::Mode,
    rule::MAX_RULES,
    spelling::Spelling,
};

const MAGIC: [u8; 4] = *b"HGHS";
const VERSION: u16 = 5;
const HEADER_LENGTH: usize = 48;
const CHECKSUM_AT: usize = 40;

/// log2 of the bits of the smallest prefix filter: one bucket.
pub(crate) const MIN_PREFIX_FILTER_BITS: u8 = 6;
/// log2 of the bits of the largest prefix filter: 512 KiB.
pub(crate) const MAX_PREFIX_FILTER_BITS: u8 = 22;

pub(crate) const DISPLACEMENT_LENGTH: usize = 2;
pub(crate) const SLOT_LENGTH: usize = 4;
#[cfg(feature = "front")]
pub(crate) const BUCKET_LENGTH: usize = 8;
const SLOTS_PER_BUCKET: u64 = 4;
pub(crate) const NODE_LENGTH: usize = 16;
pub(crate) const RULE_LENGTH: usize = 8;

/// log2 of the number of slots for exact rules. There is one bucket per four slots. The default
/// stands for an image without native tables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlotBits(u8);

impl SlotBits {
    const MIN: u8 = 3;
    const MAX: u8 = 16;

    /// Returns the size for `rules` rules, which fill at most four fifths of the slots.
    #[cfg(feature = "front")]
    pub(crate) fn for_rules(rules: usize) -> Self {
        let slots = (rules * 5 / 4).next_power_of_two();
        Self((slots.ilog2() as u8).clamp(Self::MIN, Self::MAX))
    }

    #[cfg(feature = "front")]
    pub(crate) fn doubled(self) -> Self {
        Self((self.0 + 1).min(Self::MAX))
    }

    fn is_valid(self) -> bool {
        (Self::MIN..=Self::MAX).contains(&self.0)
    }

    /// Returns whether the image has no native tables.
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn slots(self) -> usize {
        1 << self.0
    }

    #[cfg(feature = "front")]
    pub(crate) fn buckets(self) -> usize {
        1 << (self.0 - 2)
    }

    /// Returns the right shift that turns a hash into its bucket number.
    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn bucket_shift(self) -> u32 {
        u64::BITS - u32::from(self.0 - 2)
    }
}

/// The header of an image, from which all lengths follow.
#[derive(Clone, Debug)]
pub(crate) struct ImageHeader {
    pub(crate) mode: Mode,
    pub(crate) spelling: Spelling,
    pub(crate) slot_bits: SlotBits,
    pub(crate) prefix_filter_bits: u8,
    pub(crate) shortest_prefix: u16,
    pub(crate) rules: u32,
    pub(crate) nodes: u32,
    pub(crate) text_length: u32,
    pub(crate) seed: u64,
}

/// The byte ranges of the sections of an image.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "front"), expect(dead_code, reason = "three are for native lookups"))]
pub(crate) struct Sections {
    pub(crate) displacements: Range<usize>,
    pub(crate) slots: Range<usize>,
    pub(crate) prefix_filter: Range<usize>,
    pub(crate) nodes: Range<usize>,
    pub(crate) rules: Range<usize>,
    pub(crate) text: Range<usize>,
}

impl ImageHeader {
    /// Reads the header and checks its fields, the length of the image and its checksum.
    pub(crate) fn read(image: &[u8]) -> Result<(Self, Sections), ImageError> {
        if image.len() < HEADER_LENGTH {
            return Err(ImageError::Length { expected: HEADER_LENGTH as u64, found: image.len() });
        }
        let mode = Mode::of_byte(image[8]);
        let spelling = Spelling::of_byte(image[9]);
        let header = Self {
            mode: mode.unwrap_or_default(),
            spelling: spelling.unwrap_or_default(),
            slot_bits: SlotBits(image[6]),
            prefix_filter_bits: image[7],
            shortest_prefix: u16_at(image, 14),
            rules: u32_at(image, 16),
            nodes: u32_at(image, 20),
            text_length: u32_at(image, 24),
            seed: u64_at(image, 32),
        };
        let has_native_tables = header.slot_bits.is_valid();
        let gates = MIN_PREFIX_FILTER_BITS..=MAX_PREFIX_FILTER_BITS;
        let checks = [
            (image[..4] == MAGIC, "magic", 0),
            (u16_at(image, 4) == VERSION, "version", 4),
            (has_native_tables || header.slot_bits.is_none(), "slot bits", 6),
            (
                has_native_tables && gates.contains(&header.prefix_filter_bits)
                    || !has_native_tables && header.prefix_filter_bits == 0,
                "prefix filter bits",
                7,
            ),
            (mode.is_some(), "mode", 8),
            (
                spelling == Some(Spelling::Exact)
                    || spelling.is_some() && mode == Some(Mode::Strip),
                "spelling",
                9,
            ),
            (image[10..14] == [0; 4], "reserved bytes", 10),
            (header.rules <= MAX_RULES as u32, "number of rules", 16),
            (u64::from(header.nodes) <= 2 * u64::from(header.rules), "number of nodes", 20),
            (image[28..32] == [0; 4], "reserved bytes", 28),
        ];
        if let Some(&(_, field, offset)) = checks.iter().find(|(holds, ..)| !holds) {
            return Err(ImageError::Field { field, offset });
        }
        let lengths = header.section_lengths();
        let expected = HEADER_LENGTH as u64 + lengths.iter().sum::<u64>();
        if expected != image.len() as u64 {
            return Err(ImageError::Length { expected, found: image.len() });
        }
        if checksum(image) != u64_at(image, CHECKSUM_AT) {
            return Err(ImageError::Field { field: "checksum", offset: CHECKSUM_AT });
        }
        let sections = header.sections();
        Ok((header, sections))
    }

    /// Returns the sections of an image with this header.
    pub(crate) fn sections(&self) -> Sections {
        Sections::of(self.section_lengths())
    }

    /// Returns the length of each section, in order. Their sum cannot overflow 64 bits.
    fn section_lengths(&self) -> [u64; 6] {
        let bytes_of = |bits: u8| if bits == 0 { 0 } else { (1_u64 << bits) / 8 };
        let slots = bytes_of(self.slot_bits.0) * 8;
        [
            slots / SLOTS_PER_BUCKET * DISPLACEMENT_LENGTH as u64,
            slots * SLOT_LENGTH as u64,
            bytes_of(self.prefix_filter_bits),
            NODE_LENGTH as u64 * u64::from(self.nodes),
            RULE_LENGTH as u64 * u64::from(self.rules),
            u64::from(self.text_length),
        ]
    }

    /// Writes an image with this header and these sections.
    pub(crate) fn write(&self, sections: [&[u8]; 6]) -> Vec<u8> {
        debug_assert_eq!(sections.map(|section| section.len() as u64), self.section_lengths());
        let length = sections.iter().map(|section| section.len()).sum::<usize>();
        let mut image = Vec::with_capacity(HEADER_LENGTH + length);
        let [short_low, short_high] = self.shortest_prefix.to_le_bytes();
        let [version_low, version_high] = VERSION.to_le_bytes();
        let SlotBits(slot_bits) = self.slot_bits;
        let bits = [version_low, version_high, slot_bits, self.prefix_filter_bits];
        let mode = [self.mode.byte(), self.spelling.byte(), 0, 0];
        let shortest = [0, 0, short_low, short_high];
        let [rules, nodes, text_length] =
            [self.rules, self.nodes, self.text_length].map(u32::to_le_bytes);
        for word in [MAGIC, bits, mode, shortest, rules, nodes, text_length, [0; 4]] {
            image.extend_from_slice(&word);
        }
        for word in [self.seed, 0] {
            image.extend_from_slice(&word.to_le_bytes());
        }
        for section in sections {
            image.extend_from_slice(section);
        }
        let sum = checksum(&image);
        image[CHECKSUM_AT..HEADER_LENGTH].copy_from_slice(&sum.to_le_bytes());
        image
    }
}

impl Sections {
    fn of(lengths: [u64; 6]) -> Self {
        let mut start = HEADER_LENGTH;
        let [displacements, slots, prefix_filter, nodes, rules, text] = lengths.map(|length| {
            let range = start..start + length as usize;
            start = range.end;
            range
        });
        Self { displacements, slots, prefix_filter, nodes, rules, text }
    }
}

/// Returns the checksum of all bytes except its own field. Every step is a bijection of the state,
/// so a change within one word is always detected. It protects against damage, not against forgery.
fn checksum(image: &[u8]) -> u64 {
    let (before, after) = (&image[..CHECKSUM_AT], &image[HEADER_LENGTH..]);
    let (words, tail) = after.as_chunks::<8>();
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    let (header, _) = before.as_chunks::<8>();
    let mut state = image.len() as u64;
    for word in header.iter().chain(words).chain([&last]) {
        state = mix(state ^ u64::from_le_bytes(*word));
    }
    state
}
