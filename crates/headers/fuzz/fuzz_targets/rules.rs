//! A builder accepts exactly the documented rules, and their set matches as the rules one by one.
#![no_main]

use hedgerow_headers::{HeaderSet, HeaderSetBuilder, MAX_RULE_LENGTH};
use hedgerow_headers_fuzz::oracle::{Oracle, described, is_token};
use libfuzzer_sys::fuzz_target;

fn is_rule(rule: &str) -> bool {
    let text = rule.strip_suffix('*').unwrap_or(rule);
    let is_valid = |byte: u8| is_token(byte) && byte != b'*';
    (1..=MAX_RULE_LENGTH).contains(&text.len()) && text.bytes().all(is_valid)
}

fn check(set: &HeaderSet<'_>, oracle: &Oracle<'_>, name: &[u8]) {
    let expected = oracle.find(name);
    assert_eq!(set.find(name).as_ref().map(described), expected);
    assert_eq!(set.matches(name), expected.is_some());
    #[cfg(feature = "http")]
    if let Ok(header_name) = http::HeaderName::from_bytes(name) {
        assert_eq!(set.matches_name(&header_name), expected.is_some());
    }
}

fuzz_target!(|input: (Vec<&str>, Vec<&[u8]>)| {
    let (mut rules, names) = input;
    let mut builder = HeaderSetBuilder::new();
    rules.retain(|rule| {
        let is_accepted = builder.rule(rule).is_ok();
        assert_eq!(is_accepted, is_rule(rule));
        is_accepted
    });
    let owned = builder.build();
    let borrowed = HeaderSet::from_image(owned.image()).expect("an image of a builder");
    let oracle = Oracle::new(&rules);
    assert!(owned.rules().map(|rule| described(&rule)).eq(oracle.sorted()));
    for set in [&owned, &borrowed] {
        for name in names.iter().copied().chain(rules.iter().map(|rule| rule.as_bytes())) {
            check(set, &oracle, name);
            check(set, &oracle, &name.to_ascii_uppercase());
            let respelled = |&byte: &u8| if byte == b'-' { b'_' } else { byte };
            check(set, &oracle, &name.iter().map(respelled).collect::<Vec<_>>());
            check(set, &oracle, name.split_last().map_or(name, |(_, rest)| rest));
        }
    }
});
