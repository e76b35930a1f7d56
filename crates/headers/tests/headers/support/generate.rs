//! Strategies for rules, and for names that match them or nearly do.

use proptest::{collection::vec, prelude::*, sample::Index};

/// Every token character except `*`, which has a meaning in rules.
pub const TOKEN_CHARACTERS: &[u8] =
    b"!#$%&'+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Rules, and names to test against them.
#[derive(Clone, Debug)]
pub struct Case {
    pub rules: Vec<String>,
    pub names: Vec<Vec<u8>>,
}

/// A case with rules of every shape. Most of its names differ from a rule by one edit or none.
pub fn case() -> impl Strategy<Value = Case> {
    (vec(rule(), 0..24), vec((any::<Index>(), edit(), any::<u32>()), 0..48), vec(any_name(), 0..8))
        .prop_map(|(rules, edits, mut names)| {
            if !rules.is_empty() {
                names.extend(edits.into_iter().map(|(rule, edit, capitals)| {
                    let text = rule.get(&rules).trim_end_matches('*').as_bytes();
                    capitalized(edit.of(text), capitals)
                }));
            }
            Case { rules, names }
        })
}

/// A rule that a builder accepts.
pub fn rule() -> impl Strategy<Value = String> {
    (rule_text(), prop::bool::weighted(0.3)).prop_map(|(text, is_prefix)| {
        let star = if is_prefix { "*" } else { "" };
        String::from_utf8(text).expect("tokens are ASCII") + star
    })
}

/// A field name that is a token, as in field blocks and maps.
pub fn token() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        characters(b"abAB-_.^~", 1..5),
        characters(TOKEN_CHARACTERS, 1..40),
        prop::sample::select(&STANDARD_NAMES[..]).prop_map(|name| name.as_bytes().to_vec()),
    ]
}

/// Names that `http` holds as numbers, among them some that stripping treats specially.
const STANDARD_NAMES: [&str; 6] =
    ["connection", "Connection", "keep-alive", "user_agent", "x-forwarded.for", "upgrade"];

fn characters(
    alphabet: &'static [u8],
    length: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<u8>> {
    vec(prop::sample::select(alphabet), length)
}

/// Beginnings that many rules share.
const BEGINNINGS: [&str; 4] = ["x-", "X-Internal-", "cf-int-", "x-a-beginning-that-many-share-"];

fn rule_text() -> impl Strategy<Value = Vec<u8>> {
    let shared = (
        prop::sample::select(&BEGINNINGS[..]).prop_map(str::as_bytes),
        characters(TOKEN_CHARACTERS, 0..12),
    );
    let twins = characters(b"abAB", 3)
        .prop_map(|middle| [b"x-twin-rules-", &middle[..], b"-that-only-differ-between"].concat());
    prop_oneof![
        4 => characters(b"abAB-_.^~", 1..6),
        4 => shared.prop_map(|(beginning, rest)| [beginning, &rest].concat()),
        2 => twins,
        2 => token(),
        1 => characters(TOKEN_CHARACTERS, 1..=256),
    ]
}

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..40), characters(TOKEN_CHARACTERS, 0..300), token(),]
}

/// The difference between a name and the rule it is made from.
#[derive(Clone, Debug)]
enum Edit {
    Nothing,
    Replace(Index, u8),
    FlipCaseBit(Index),
    Insert(Index, u8),
    Remove(Index),
    Truncate(Index),
    Append(Vec<u8>),
    Respell(u64),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => Just(Edit::Nothing),
        3 => (any::<Index>(), any_byte()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        2 => any::<Index>().prop_map(Edit::FlipCaseBit),
        2 => (any::<Index>(), any_byte()).prop_map(|(at, byte)| Edit::Insert(at, byte)),
        2 => any::<Index>().prop_map(Edit::Remove),
        1 => any::<Index>().prop_map(Edit::Truncate),
        2 => any_name().prop_map(Edit::Append),
        4 => any::<u64>().prop_map(Edit::Respell),
    ]
}

fn any_byte() -> impl Strategy<Value = u8> {
    prop_oneof![prop::sample::select(TOKEN_CHARACTERS), any::<u8>()]
}

impl Edit {
    fn of(&self, text: &[u8]) -> Vec<u8> {
        let mut name = text.to_vec();
        match self {
            Self::Nothing => {}
            Self::Replace(at, byte) => name[at.index(text.len())] = *byte,
            Self::FlipCaseBit(at) => name[at.index(text.len())] ^= 0x20,
            Self::Insert(at, byte) => name.insert(at.index(text.len() + 1), *byte),
            Self::Remove(at) => drop(name.remove(at.index(text.len()))),
            Self::Truncate(at) => name.truncate(at.index(text.len())),
            Self::Append(rest) => name.extend(rest),
            Self::Respell(marks) => {
                for (at, byte) in name.iter_mut().enumerate() {
                    if b"-_.".contains(byte) {
                        *byte = b"-_.-"[(marks >> (2 * at % 64) & 3) as usize];
                    }
                }
            }
        }
        name
    }
}

/// Flips the case of the letters whose position, modulo 32, is set in `capitals`.
fn capitalized(mut name: Vec<u8>, capitals: u32) -> Vec<u8> {
    for (at, byte) in name.iter_mut().enumerate() {
        if byte.is_ascii_alphabetic() && capitals >> (at % 32) & 1 != 0 {
            *byte ^= 0x20;
        }
    }
    name
}
