//! Random keys, names and rules.

use hedgerow_tests_random::Random;

/// Every token character except `*`, which has a meaning in rules.
const TOKEN_CHARACTERS: &[u8] =
    b"!#$%&'+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Characters with a meaning in field blocks, rules or JSON.
const DELIMITERS: &[u8] = b"\r\n\0 :*,\"\\/{}[]0123456789aAeEfFu+-.";

/// Returns a key of up to 2,000 characters. Most keys are short. Half of them use all of Unicode, and
/// the others a few characters.
pub fn key(random: &mut Random) -> String {
    let max = *random.pick(&[8, 40, 40, 40, 300, 2_001]);
    let length = random.within(0..max);
    let is_plain = random.once_in(2);
    (0..length)
        .map(|_| match random.number() {
            number if is_plain => char::from(b"/abcde-*"[(number % 8) as usize]),
            number => char::from_u32(number as u32 % 0x11_0000).unwrap_or('\u{fffd}'),
        })
        .collect()
}

/// Returns a token of few or of all token characters. Many tokens share their beginnings.
pub fn token(random: &mut Random) -> Vec<u8> {
    let beginning: &[u8] =
        random.pick(&["", "", "x-", "X-Internal-", "cf-int-", "connection"]).as_bytes();
    let (characters, max) =
        *random.pick(&[(b"abAB-".as_slice(), 5), (TOKEN_CHARACTERS, 20), (TOKEN_CHARACTERS, 256)]);
    let length = random.within(1..max);
    let rest = (0..length).map(|_| *random.pick(characters));
    beginning.iter().copied().chain(rest).take(256).collect()
}

/// Returns a rule. A few are invalid.
pub fn rule(random: &mut Random) -> Vec<u8> {
    let mut rule = token(random);
    if random.once_in(3) {
        rule.push(b'*');
    }
    if random.once_in(12) {
        damage(random, &mut rule);
    }
    rule
}

/// Returns a name that matches one of `rules` or nearly does, or another name.
pub fn name(random: &mut Random, rules: &[Vec<u8>]) -> Vec<u8> {
    if rules.is_empty() || random.once_in(4) {
        return token(random);
    }
    let mut name = random.pick(rules).clone();
    if name.last() == Some(&b'*') {
        name.pop();
    }
    for byte in &mut name {
        if random.once_in(3) {
            *byte = byte.to_ascii_uppercase();
        }
    }
    match random.within(0..4) {
        0 => damage(random, &mut name),
        1 => name.extend(token(random)),
        _ => {}
    }
    name
}

/// Replaces, removes, doubles or inserts a byte, or truncates.
pub fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.within(0..bytes.len() + 1);
    let any = random.number() as u8;
    let other = if random.once_in(3) { any } else { *random.pick(DELIMITERS) };
    match (random.within(0..5), bytes.get(at).copied()) {
        (0, Some(_)) => bytes[at] = other,
        (1, Some(_)) => drop(bytes.remove(at)),
        (2, Some(same)) => bytes.insert(at, same),
        (3, _) => bytes.truncate(at),
        _ => bytes.insert(at, other),
    }
}
