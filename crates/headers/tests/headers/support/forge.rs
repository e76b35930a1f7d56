//! Forged images: changed, with a checksum that matches the change.

use hedgerow_headers::HeaderSet;

/// Length of the header of an image, whose last eight bytes are the checksum.
pub const HEADER_LENGTH: usize = 48;
/// Offset of the checksum.
pub const CHECKSUM_AT: usize = 40;

/// Writes the checksum of the image's bytes into it. Leaves an image without a whole header
/// unchanged.
///
/// The checksum is a chain of SplitMix64 steps that begins with the length of the image and takes
/// in little-endian words: those of the header without the checksum, those after the header, and
/// the remaining bytes, padded with zeros to a word, even if there are none.
pub fn fix_checksum(image: &mut [u8]) {
    if image.len() < HEADER_LENGTH {
        return;
    }
    let mut state = image.len() as u64;
    let mut take_in = |word: [u8; 8]| state = split_mix(state ^ u64::from_le_bytes(word));
    let (header, _) = image[..CHECKSUM_AT].as_chunks::<8>();
    let (body, rest) = image[HEADER_LENGTH..].as_chunks::<8>();
    header.iter().chain(body).for_each(|word| take_in(*word));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    take_in(last);
    image[CHECKSUM_AT..HEADER_LENGTH].copy_from_slice(&state.to_le_bytes());
}

fn split_mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Calls every method of a set. Only a panic is a failure.
pub fn exercise(set: &HeaderSet<'_>, names: &[&[u8]]) {
    let texts: Vec<String> = set
        .rules()
        .inspect(|rule| assert!(!rule.to_string().is_empty()))
        .map(|rule| rule.text().to_owned())
        .collect();
    assert_eq!(texts.len(), set.len());
    let names = texts.iter().map(String::as_bytes).chain(names.iter().copied());

    let mut block = Vec::new();
    for name in names {
        let _ = (set.strips(name), set.find(name));
        block.extend([name, b": connection, x-a\r\n"].concat());
    }
    let before = block.clone();
    match set.strip_block(&mut block) {
        Ok(length) => assert!(length <= before.len()),
        Err(_) => assert_eq!(block, before),
    }
    #[cfg(feature = "http")]
    strip_map(set, &texts);
}

#[cfg(feature = "http")]
fn strip_map(set: &HeaderSet<'_>, texts: &[String]) {
    let mut map = http::HeaderMap::new();
    let names = texts.iter().map(String::as_str).take(1000);
    for name in names.chain(["connection", "accept", "x-a"]) {
        let name = http::HeaderName::from_bytes(name.as_bytes()).expect("rules are tokens");
        let _ = set.strips_name(&name);
        map.append(name, http::HeaderValue::from_static("x-a, keep-alive"));
    }
    let before = map.keys_len();
    assert_eq!(set.strip(&mut map), Ok(before - map.keys_len()));
}
