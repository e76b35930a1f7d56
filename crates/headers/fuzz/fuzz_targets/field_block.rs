//! A field block is stripped as by the oracle, or refused and left unchanged.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_headers::{HeaderSet, HeaderSetBuilder, Mode, Spelling};
use hedgerow_headers_fuzz::oracle::Oracle;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Block<'a> {
    Bytes(&'a [u8]),
    /// Names and values, which may be malformed.
    Fields(Vec<(&'a str, &'a [u8])>),
    /// A `Connection` field with these options, and names and values.
    Nominating(Vec<&'a str>, Vec<(&'a str, &'a [u8])>),
}

impl Block<'_> {
    fn bytes(&self) -> Vec<u8> {
        let line =
            |&(name, value): &(&str, &[u8])| [name.as_bytes(), b":", value, b"\r\n"].concat();
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Fields(fields) => fields.iter().flat_map(line).collect(),
            Self::Nominating(options, fields) => {
                let options = options.join(" ,");
                let connection = line(&("Connection", options.as_bytes()));
                connection.into_iter().chain(fields.iter().flat_map(line)).collect()
            }
        }
    }
}

fuzz_target!(|input: (Vec<&str>, bool, Option<bool>, Block<'_>)| {
    let (mut rules, strips_connection, is_exact, block) = input;
    rules.extend(strips_connection.then_some("connection"));
    let (mode, spelling, mut builder) = match is_exact {
        None => (Mode::Keep, Spelling::Exact, HeaderSetBuilder::with_mode(Mode::Keep)),
        Some(is_exact) => {
            let spelling = if is_exact { Spelling::Exact } else { Spelling::Equivalent };
            (Mode::Strip, spelling, HeaderSetBuilder::with_spelling(spelling))
        }
    };
    rules.retain(|rule| builder.rule(rule).is_ok());
    let owned = builder.build();
    let borrowed = HeaderSet::from_image(owned.image()).expect("an image of a builder");
    let oracle = Oracle::of(mode, spelling, &rules);
    let block = block.bytes();
    oracle.assert_strips_block(&owned, &block);
    oracle.assert_strips_block(&borrowed, &block);
});
