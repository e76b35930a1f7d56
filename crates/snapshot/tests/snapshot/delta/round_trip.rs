//! Chains of deltas of random images, compared with the images and with a naive map of blocks.

use std::{iter::once, ops::Range, slice::from_ref};

use hedgerow_snapshot::{
    BLOCK_SIZE, DeltaPiece, DeltaPieceEncoder, EncodeError, Index, Options, Unchanged,
};
use proptest::{collection::vec, prelude::*, sample};

use crate::support::{
    delta::{Delta, Files, open_index, restore_from},
    generate::{BLOCK, image, noise, options, text},
    snapshot::create,
};

/// A change of an image.
#[derive(Clone, Debug)]
enum Change {
    Write { at: sample::Index, blocks: usize, seed: u64 },
    Bytes { at: sample::Index, length: usize },
    Zero { at: sample::Index, blocks: usize },
    Scatter { every: usize, seed: u64 },
    Move { from: sample::Index, to: sample::Index, blocks: usize },
    Grow { length: usize, kind: u8 },
    Shrink { to: sample::Index },
}

fn change() -> impl Strategy<Value = Change> {
    use Change::*;
    let at = any::<sample::Index>;
    prop_oneof![
        4 => (at(), 1..20_usize, any::<u64>()).prop_map(|(at, blocks, seed)| Write { at, blocks, seed }),
        4 => (at(), 1..100_usize).prop_map(|(at, length)| Bytes { at, length }),
        3 => (at(), 1..40_usize).prop_map(|(at, blocks)| Zero { at, blocks }),
        1 => (2..30_usize, any::<u64>()).prop_map(|(every, seed)| Scatter { every, seed }),
        2 => (at(), at(), 1..20_usize).prop_map(|(from, to, blocks)| Move { from, to, blocks }),
        2 => (1..200_000_usize, 0..3_u8).prop_map(|(length, kind)| Grow { length, kind }),
        1 => at().prop_map(|to| Shrink { to }),
    ]
}

impl Change {
    fn apply(&self, image: &mut Vec<u8>) {
        let size = image.len();
        if let Self::Grow { length, kind } = *self {
            let length = length.min((1 << 21) - size.min(1 << 21));
            image.extend(match kind {
                0 => text(length, size as u64),
                1 => noise(length, size as u64),
                _ => vec![0; length],
            });
        } else if size > 0 {
            self.overwrite(image);
        }
    }

    fn overwrite(&self, image: &mut Vec<u8>) {
        let size = image.len();
        let blocks = size.div_ceil(BLOCK);
        let stretch = |at: &sample::Index, count: usize| {
            let start = at.index(blocks) * BLOCK;
            start..size.min(start + count * BLOCK)
        };
        match self {
            Self::Write { at, blocks, seed } => {
                let range = stretch(at, *blocks);
                let bytes = if seed % 2 == 0 {
                    text(range.len(), *seed)
                } else {
                    noise(range.len(), *seed)
                };
                image[range].copy_from_slice(&bytes);
            }
            Self::Bytes { at, length } => {
                let start = at.index(size);
                image[start..size.min(start + length)].fill(0x5a);
            }
            Self::Zero { at, blocks } => image[stretch(at, *blocks)].fill(0),
            Self::Scatter { every, seed } => {
                for block in image.chunks_mut(BLOCK).step_by(*every) {
                    block[0] ^= *seed as u8;
                }
            }
            Self::Move { from, to, blocks } => {
                let bytes = image[stretch(from, *blocks)].to_vec();
                let to = stretch(to, *blocks);
                let length = to.len().min(bytes.len());
                image[to.start..to.start + length].copy_from_slice(&bytes[..length]);
            }
            Self::Shrink { to } => image.truncate(to.index(size + 1)),
            Self::Grow { .. } => {}
        }
    }
}

/// What the writer knows about the changes.
#[derive(Clone, Copy, Debug)]
struct Knowledge {
    /// Whether every block is given as changed.
    is_everything: bool,
    /// The number of blocks around a change that are given as changed, too.
    around: usize,
    has_base: bool,
}

fn knowledge() -> impl Strategy<Value = Knowledge> {
    (any::<bool>(), 0..4_usize, any::<bool>())
        .prop_map(|(is_everything, around, has_base)| Knowledge { is_everything, around, has_base })
}

/// Returns whether a block is as in the base, and as zeros beyond its end.
fn is_same(base: &[u8], image: &[u8], block: usize) -> bool {
    let start = block * BLOCK;
    let new = &image[start..image.len().min(start + BLOCK)];
    let old = &base[start.min(base.len())..base.len().min(start + BLOCK)];
    if old.is_empty() { new.iter().all(|byte| *byte == 0) } else { old.starts_with(new) }
}

fn changed_ranges(base: &[u8], image: &[u8], knowledge: Knowledge) -> Vec<Range<usize>> {
    let blocks = image.len().div_ceil(BLOCK);
    if knowledge.is_everything {
        return once(0..blocks).collect();
    }
    let changed = (0..blocks).filter(|block| !is_same(base, image, *block));
    changed
        .map(|block| {
            block.saturating_sub(knowledge.around)..blocks.min(block + knowledge.around + 1)
        })
        .collect()
}

/// The place of a block: the identity of its file, the offset of its frame, and the block in it.
type Place = Option<(String, u64, u32)>;

/// Returns the place of each block, naively.
fn places(index: &Index) -> Vec<Place> {
    let mut places = Vec::new();
    for mapping in index.mappings() {
        for number in 0..mapping.blocks {
            places.push(mapping.data.map(|data| {
                let frame = &index.frames()[data.frame as usize];
                let identity = match frame.object {
                    0 => index.identity(),
                    object => index.objects()[usize::from(object) - 1].identity,
                };
                (identity.to_string(), frame.file_offset, data.block + number)
            }));
        }
    }
    places
}

/// Checks where a delta has its blocks: in the base, if they were not given as changed or equal it; in holes,
/// if they are zeros; otherwise in the delta.
fn check_places(base: &Index, index: &Index, delta: &Delta<'_>, known: &[u8], piece_size: usize) {
    let (old, new) = (places(base), places(index));
    let identity = index.identity().to_string();
    let pieces = new.chunks(piece_size / BLOCK).enumerate();
    for (number, piece) in pieces {
        let first = number * piece_size / BLOCK;
        let is_kept = |at: usize| {
            let is_given = delta.changed.iter().any(|range| range.contains(&at));
            let range = at * BLOCK..delta.image.len().min((at + 1) * BLOCK);
            let old = delta.base_image.map(|_| &known[range.start.min(known.len())..]);
            let old = old.map(|old| &old[..old.len().min(BLOCK)]);
            !is_given || old.is_some_and(|old| !old.is_empty() && *old == delta.image[range])
        };
        let is_zero = |at: usize| {
            let block = &delta.image[at * BLOCK..delta.image.len().min((at + 1) * BLOCK)];
            block.iter().all(|byte| *byte == 0)
        };
        let blocks = first..first + piece.len();
        let is_changed = blocks.clone().any(|at| !is_kept(at) && !is_zero(at));
        // Cut as in a full snapshot: its holes are long, and it has several frames.
        if is_changed && blocks.clone().all(|at| !is_kept(at) || is_zero(at)) {
            assert!(piece.iter().flatten().all(|place| place.0 == identity));
            continue;
        }
        let own = piece.iter().flatten().filter(|place| place.0 == identity);
        let mut own: Vec<_> = own.map(|place| place.1).collect();
        own.dedup();
        assert!(own.len() <= 1, "the changes of a piece are in one frame");
        for at in blocks {
            let place = &new[at];
            if is_kept(at) {
                assert_eq!(place, old.get(at).unwrap_or(&None), "block {at}");
            } else if is_zero(at) {
                assert_eq!(*place, None, "block {at}");
            } else {
                assert_eq!(place.as_ref().unwrap().0, identity, "block {at}");
            }
        }
    }
}

/// A chain of deltas.
struct Chain {
    files: Files,
    image: Vec<u8>,
    file: Vec<u8>,
    options: Options,
}

impl Chain {
    fn new(image: &[u8], options: Options) -> Self {
        let file = create(image, &options);
        let identity = open_index(&file).unwrap().identity();
        let files = Files::from([(identity, file.clone())]);
        Self { files, image: image.to_vec(), file, options }
    }

    fn add(&mut self, image: Vec<u8>, knowledge: Knowledge) {
        let base = open_index(&self.file).unwrap();
        let changed = changed_ranges(&self.image, &image, knowledge);
        let references: Vec<_> =
            (0..=base.objects().len()).map(|number| format!("folder/{number}.vhs")).collect();
        let references: Vec<_> = references.iter().map(|it| &it[..]).collect();
        let delta = || Delta {
            image: &image,
            base_image: knowledge.has_base.then_some(&self.image[..]),
            base: base.clone(),
            changed: &changed,
            references: &references,
        };
        let file = match delta().create(&self.options) {
            Ok(file) => file,
            Err(EncodeError::BaseObjects { found: 9 }) => {
                return *self = Self::new(&image, self.options);
            }
            Err(error) => panic!("{error}"),
        };
        assert!(restore_from(&self.files, &file).unwrap() == image);
        let index = open_index(&file).unwrap();
        check_places(&base, &index, &delta(), &self.image, self.options.piece_size as usize);
        assert_eq!(index.depth(), base.depth() + 1);
        for object in index.objects() {
            assert_eq!(self.files[&object.identity].len() as u64, object.size);
        }
        // Pieces that did not change need not be pushed, and the same input gives the same file.
        assert!(delta().create(&self.options).unwrap() == file);
        self.files.insert(index.identity(), file.clone());
        (self.image, self.file) = (image, file);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_chain_of_deltas_is_restored(
        image in image(),
        options in options(),
        generations in vec((vec(change(), 0..6), knowledge()), 1..=12),
    ) {
        let mut chain = Chain::new(&image, options);
        for (changes, knowledge) in generations {
            let mut image = chain.image.clone();
            changes.iter().for_each(|change| change.apply(&mut image));
            chain.add(image, knowledge);
        }
    }
}

#[test]
fn a_piece_without_data_of_the_base_has_the_frames_of_a_full_snapshot() {
    let options = Options { piece_size: 1 << 18, level: 3 };
    let mut image = text(1 << 18, 1);
    image[100_000..200_000].fill(0);
    image.extend(noise(70_000, 2));
    let full = open_index(&create(&image, &options)).unwrap();
    for base_image in [vec![], vec![0; image.len()], noise(image.len(), 3)] {
        let base_file = create(&base_image, &options);
        let delta = Delta {
            image: &image,
            base_image: Some(&base_image),
            base: open_index(&base_file).unwrap(),
            changed: from_ref(&(0..100)),
            references: &[""],
        };
        let index = open_index(&delta.create(&options).unwrap()).unwrap();
        assert_eq!(index.mappings(), full.mappings());
        let digests = |index: &Index| -> Vec<_> {
            index.frames().iter().map(|frame| (frame.digest, frame.raw_length)).collect()
        };
        assert_eq!(digests(&index), digests(&full));
        assert!(index.objects().is_empty());
    }
}

#[test]
fn blocks_that_did_not_change_keep_their_place_through_eight_generations() {
    let options = Options { piece_size: 1 << 16, level: 1 };
    let mut chain = Chain::new(&noise(10 << 16, 1), options);
    for generation in 0..8 {
        let mut image = chain.image.clone();
        image[generation << 16..][..BLOCK].fill(generation as u8 + 1);
        chain.add(image, Knowledge { is_everything: false, around: 0, has_base: false });
        let index = open_index(&chain.file).unwrap();
        assert_eq!(index.objects().len(), generation + 1);
        assert_eq!(index.frames().len(), 10 + generation + 1);
        assert!(chain.file.len() < 3000);
        assert_eq!(index.data_size(), 10 * (1 << 16));
    }
    // The ninth base object would be one too many.
    let mut image = chain.image.clone();
    image[9 << 16..].fill(9);
    chain.add(image, Knowledge { is_everything: false, around: 0, has_base: false });
    assert_eq!(open_index(&chain.file).unwrap().depth(), 0);
}

#[test]
fn an_image_of_16_tib_is_divided_into_mappings() {
    use hedgerow_snapshot::{DeltaEncoder, Encoder, MAX_IMAGE_SIZE, Mapping, Run};
    let options = Options::default();
    let mut encoder = Encoder::new(MAX_IMAGE_SIZE, &options).unwrap();
    let mut file = encoder.header();
    file.extend(encoder.push(&Run::Zeros { length: MAX_IMAGE_SIZE }).unwrap());
    file.extend(encoder.finish().unwrap());
    let base = Index::parse(&file, file.len() as u64).unwrap();
    let blocks = MAX_IMAGE_SIZE / u64::from(BLOCK_SIZE);
    let mappings = [u32::MAX, (blocks - u64::from(u32::MAX)) as u32];
    let mappings = mappings.map(|blocks| Mapping { blocks, data: None });
    assert_eq!(base.mappings(), mappings);
    // The same mappings, if the image grew.
    let small = create(&[0; 5 * BLOCK], &options);
    for base in [base, Index::parse(&small, small.len() as u64).unwrap()] {
        let encoder = DeltaEncoder::new(MAX_IMAGE_SIZE, &options, base).unwrap();
        let file = [encoder.header(), encoder.finish(&[""]).unwrap()].concat();
        assert_eq!(open_index(&file).unwrap().mappings(), mappings);
    }
}

/// Describes a piece, to compare it with another one.
fn described(piece: &DeltaPiece<'_>) -> String {
    format!("{piece:?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_piece_of_which_only_the_changes_are_at_hand_is_encoded_as_the_whole_piece(
        // Blocks that changed to data, changed to zeros, and others, in stretches.
        stretches in vec((0..3_u8, 1..30_usize), 1..8),
        end in 1..=BLOCK_SIZE as usize,
    ) {
        let kinds: Vec<u8> =
            stretches.iter().flat_map(|(kind, blocks)| vec![*kind; *blocks]).take(64).collect();
        let length = (kinds.len() - 1) * BLOCK_SIZE as usize + end;
        let changed: Vec<_> = (0..kinds.len() as u32)
            .filter(|at| kinds[*at as usize] < 2)
            .map(|at| at..at + 1)
            .collect();
        let options = Options { level: 1, piece_size: 1 << 18 };
        let filled = |others: u8| -> Vec<u8> {
            let block = |kind: &u8| vec![[7, 0, others][usize::from(*kind)]; BLOCK_SIZE as usize];
            kinds.iter().flat_map(block).take(length).collect()
        };
        let has_others = kinds.contains(&2);
        for (others, unchanged) in [(0, Unchanged::Zeros), (9, Unchanged::Data)] {
            if unchanged == Unchanged::Data && !has_others {
                continue;
            }
            let mut whole = DeltaPieceEncoder::new(&options).unwrap();
            let mut parts = DeltaPieceEncoder::new(&options).unwrap();
            let expected = described(&whole.encode(&filled(others), None, &changed).unwrap());
            // The other blocks have bytes of earlier pieces.
            let found = parts.encode_changed(&mut filled(5), &changed, unchanged).unwrap();
            prop_assert_eq!(described(&found), expected);
        }
    }
}
