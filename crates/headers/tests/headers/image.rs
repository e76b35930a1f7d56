use hedgerow_headers::{HeaderSet, ImageError, Mode, Spelling};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::support::{
    KINDS, Kind, for_owned_and_borrowed,
    forge::{CHECKSUM_AT, HEADER_LENGTH, exercise, fix_checksum},
    generate::case,
    set_of,
};

/// Rules of every kind. Their image is small enough to damage every byte of it.
const RULES: [&str; 7] = ["connection", "cf-int-*", "cf-ray", "x-^", "x-~", "x-a", "x-a*"];

/// Names whose lookups read every part of an image of [`RULES`].
const NAMES: [&[u8]; 10] = [
    b"",
    b"x",
    b"x-^",
    b"x-ab",
    b"cf-int-brand",
    b"cf-ray",
    b"Connection",
    b"accept-encoding",
    b"a-name-of-more-than-thirty-two-bytes",
    &[0xff; 300],
];

proptest! {
    #[test]
    fn the_same_rules_in_any_order_give_the_same_image(
        (rules, shuffled) in case().prop_flat_map(|case| {
            (Just(case.rules.clone()), Just(case.rules).prop_shuffle())
        })
    ) {
        let image = set_of(&rules).image().to_vec();
        let doubled_and_capital = shuffled.iter().chain(&rules).map(|rule| rule.to_ascii_uppercase());
        prop_assert!(image == set_of(&shuffled).image());
        prop_assert!(image == set_of(doubled_and_capital).image());
    }

    #[test]
    fn a_set_matches_the_same_names_wherever_its_image_is(case in case(), offset in 0..8_usize) {
        let built = set_of(&case.rules);
        let moved = [&vec![0xaa; offset], built.image(), &[0xaa; 3]].concat();
        let borrowed = HeaderSet::from_image(&moved[offset..][..built.image().len()])?;
        let owned = HeaderSet::from_image_vec(built.image().to_vec())?;
        for set in [&borrowed, &owned, &owned.clone()] {
            prop_assert_eq!(set.image(), built.image());
            prop_assert!(set.rules().eq(built.rules()));
            prop_assert_eq!(set.strips_connection(), built.matches(b"connection"));
            for name in &case.names {
                prop_assert_eq!(set.matches(name), built.matches(name));
                prop_assert_eq!(set.find(name), built.find(name));
            }
        }
    }

    #[cfg(feature = "front")]
    #[test]
    fn an_image_without_the_native_tables_matches_the_same_names(case in case()) {
        let built = set_of(&case.rules);
        let image = without_native_tables(built.image());
        let borrowed = HeaderSet::from_image(&image)?;
        let owned = HeaderSet::from_image_vec(image.clone())?;
        for set in [&borrowed, &owned] {
            prop_assert!(set.rules().eq(built.rules()));
            prop_assert_eq!(set.strips_connection(), built.strips_connection());
            for name in &case.names {
                prop_assert_eq!(set.matches(name), built.matches(name));
                prop_assert_eq!(set.find(name), built.find(name));
            }
            exercise(set, &NAMES);
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_looked_up_without_a_panic(
        header in vec(any::<u8>(), HEADER_LENGTH..=HEADER_LENGTH),
        sizes in prop_oneof![Just([0, 0]), Just([3, 6])],
        body in vec(any::<u8>(), 0..600),
        numbers in [0..4_u32, 0..8_u32, 0..64_u32],
    ) {
        let mut image = [header, body].concat();
        image[..6].copy_from_slice(b"HGHS\x05\0");
        image[6..8].copy_from_slice(&sizes);
        image[8] &= 1;
        image[9] = image[8] | image[9] & 1;
        image[10..14].fill(0);
        for (at, number) in (16..).step_by(4).zip(numbers) {
            image[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        image[28..32].fill(0);
        forge_and_exercise(image);
    }

    #[test]
    fn images_with_several_damaged_bytes_are_refused_or_looked_up_without_a_panic(
        case in case(),
        changes in vec((any::<Index>(), any::<u8>()), 1..8),
    ) {
        let mut image = set_of(&case.rules).image().to_vec();
        for (at, byte) in changes {
            let at = at.index(image.len());
            image[at] = byte;
        }
        forge_and_exercise(image);
    }
}

/// Returns the image that a builder without the feature `front` writes for the rules of `image`.
#[cfg(feature = "front")]
fn without_native_tables(image: &[u8]) -> Vec<u8> {
    let (slots, filter_bits) = (1_usize << image[6], 1_usize << image[7]);
    let tables = 2 * slots / 4 + 4 * slots + filter_bits / 8;
    let mut image = [&image[..HEADER_LENGTH], &image[HEADER_LENGTH + tables..]].concat();
    for unused in [6..8, 14..16, 32..40] {
        image[unused].fill(0);
    }
    fix_checksum(&mut image);
    image
}

/// Fixes the checksum of `image`, and its length if the header asks for another one. If the image
/// is then accepted, exercises the set.
fn forge_and_exercise(mut image: Vec<u8>) {
    fix_checksum(&mut image);
    if let Err(ImageError::Length { expected, .. }) = HeaderSet::from_image(&image) {
        image.resize(expected.min(1 << 20) as usize, 0);
        fix_checksum(&mut image);
    }
    let Ok(borrowed) = HeaderSet::from_image(&image) else {
        return;
    };
    exercise(&borrowed, &NAMES);
    exercise(&HeaderSet::from_image_vec(image.clone()).expect("as above"), &NAMES);
}

#[test]
fn the_checksum_is_as_documented() {
    let valid = set_of(RULES);
    let mut image = valid.image().to_vec();
    image[CHECKSUM_AT..HEADER_LENGTH].fill(0);
    fix_checksum(&mut image);
    assert_eq!(image, valid.image());
}

#[test]
fn an_image_says_whether_it_is_an_allow_list_and_which_spellings_match() {
    for kind @ Kind(mode, spelling) in KINDS {
        let built = kind.builder().rules(RULES).expect("valid rules").build();
        let read = HeaderSet::from_image(built.image()).expect("an image of a builder");
        assert_eq!((read.mode(), read.spelling()), (mode, spelling));
        assert_eq!(read.matches(b"cf_ray"), spelling == Spelling::Equivalent);
        assert!(read.rules().eq(built.rules()));
        assert_eq!(read.strips(b"accept"), mode == Mode::Keep);
        assert_eq!(read.strips_connection(), mode == Mode::Strip);
    }
}

#[test]
fn every_truncation_is_refused() {
    let set = set_of(RULES);
    let image = set.image();
    for length in 0..image.len() {
        let expected = if length < HEADER_LENGTH { HEADER_LENGTH } else { image.len() };
        assert_eq!(
            HeaderSet::from_image(&image[..length]).expect_err("a truncated image"),
            ImageError::Length { expected: expected as u64, found: length },
        );
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    let set = set_of(RULES);
    let longer = [set.image(), &[0]].concat();
    let error = HeaderSet::from_image(&longer).expect_err("an image with a byte too many");
    assert_eq!(
        error.to_string(),
        format!("expected an image of {} bytes, found {}", longer.len() - 1, longer.len()),
    );
}

#[test]
fn every_flipped_bit_is_refused() {
    for_owned_and_borrowed(RULES, |set| {
        let mut image = set.image().to_vec();
        for bit in 0..image.len() * 8 {
            image[bit / 8] ^= 1 << (bit % 8);
            HeaderSet::from_image(&image).expect_err("a damaged image");
            image[bit / 8] ^= 1 << (bit % 8);
        }
    });
}

#[test]
fn any_changed_byte_with_a_valid_checksum_is_refused_or_looked_up_without_a_panic() {
    let set = set_of(RULES);
    for at in 0..set.image().len() {
        for change in [0x01, 0x02, 0x10, 0x40, 0x80, 0xff] {
            let mut image = set.image().to_vec();
            image[at] ^= change;
            forge_and_exercise(image);
        }
    }
}

#[test]
fn header_numbers_out_of_range_are_refused() {
    let set = set_of(RULES);
    for (at, field) in [(16, "number of rules"), (20, "number of nodes")] {
        for number in [u32::MAX, 1 << 31, u32::MAX / 2, 1 << 16] {
            let mut image = set.image().to_vec();
            image[at..at + 4].copy_from_slice(&number.to_le_bytes());
            assert_eq!(
                HeaderSet::from_image(&image).expect_err("a number out of range"),
                ImageError::Field { field, offset: at },
            );
        }
    }
    let mut image = set.image().to_vec();
    image[24..28].fill(0xff);
    assert!(matches!(
        HeaderSet::from_image(&image),
        Err(ImageError::Length { expected, .. }) if expected > u64::from(u32::MAX)
    ));
}

#[test]
fn an_error_names_the_first_invalid_field_of_the_header() {
    let set = set_of(RULES);
    for (at, value, field, offset) in [
        (1, b'X', "magic", 0),
        (4, 1, "version", 4),
        (6, 2, "slot bits", 6),
        (6, 17, "slot bits", 6),
        (7, 2, "prefix filter bits", 7),
        (7, 23, "prefix filter bits", 7),
        (8, 2, "mode", 8),
        (9, 2, "spelling", 9),
        (13, 1, "reserved bytes", 10),
        (30, 1, "reserved bytes", 28),
        (45, !set.image()[45], "checksum", CHECKSUM_AT),
    ] {
        let mut image = set.image().to_vec();
        image[at] = value;
        let error = HeaderSet::from_image(&image).expect_err(field);
        assert_eq!(error, ImageError::Field { field, offset });
        assert_eq!(
            error.to_string(),
            format!("expected a valid {field}, found another value at byte {offset}"),
        );
    }
}

#[cfg(feature = "front")]
#[test]
fn a_forged_slot_is_refused_by_name() {
    let set = set_of(RULES);
    let mut image = set.image().to_vec();
    let slots = HEADER_LENGTH + 2 * (1 << (image[6] - 2));
    let is_taken = |at: &usize| image[*at..*at + 2] != [0xff; 2];
    let slot = (slots..).step_by(4).find(is_taken).expect("names have slots");
    image[slot] = 0x7f;
    fix_checksum(&mut image);
    let error = HeaderSet::from_image(&image).expect_err("a slot with an unknown rule");
    assert_eq!(error, ImageError::Field { field: "slot", offset: slots });
}

#[test]
fn forged_rules_and_nodes_are_refused_by_name() {
    let set = set_of(RULES);
    let image = set.image();
    let text =
        image.len() - RULES.iter().map(|rule| rule.trim_end_matches('*').len()).sum::<usize>();
    let rules = text - 8 * RULES.len();
    let nodes =
        rules - 16 * u32::from_le_bytes(image[20..24].try_into().expect("four bytes")) as usize;
    for (at, value, field, offset) in [
        (rules + 2, 0xff, "offset of a rule's text", rules),
        (rules + 5, 0xff, "offset of a rule's text", rules),
        (rules + 4, 0, "rule", rules),
        (text, b' ', "rule", rules),
        (text, b'*', "rule", rules),
        (text, b'C', "rule", rules),
        (text, 0xc3, "rule", rules),
        (rules + 6, 2, "kind of a rule", rules),
        (text, b'z', "order of the rules", rules + 8),
        (rules + 5 * 8 + 6, 0, "order of the rules", rules + 5 * 8),
        (nodes + 12, 0xff, "rule of a node", nodes),
        (nodes + 14, 0xff, "rule of a node", nodes),
        (nodes + 8, 0, "children of a node", nodes),
        (nodes + 11, 0xff, "children of a node", nodes),
        (nodes, 0xff, "children of a node", nodes),
        (nodes + 16 + 14, 0, "length of a node's text", nodes),
    ] {
        let mut image = image.to_vec();
        image[at] = value;
        fix_checksum(&mut image);
        let error = HeaderSet::from_image(&image).expect_err(field);
        assert_eq!(error, ImageError::Field { field, offset }, "byte {at} set to {value:#04x}");
    }
}
