use hedgerow_example_wasmtime_host::{HeaderError, HeaderRules, Probe};
use hedgerow_headers::{
    HeaderSetBuilder, MAX_RULE_LENGTH, MAX_RULES, Nomination, connection_options, nomination,
    presets,
};
use hedgerow_tests_random::Random;

use crate::support::{
    edge::headers,
    texts::{name, rule, token},
};

#[test]
fn rules_are_accepted_and_match_as_natively() {
    let edge = headers();
    let mut random = Random(3);
    let (mut refused, mut matched) = (0, 0);
    for _ in 0..300 {
        let mut native = HeaderSetBuilder::new();
        let mut rules = HeaderRules::new(&edge).unwrap();
        let all: Vec<_> = (0..random.within(0..60)).map(|_| rule(&mut random)).collect();
        for rule in &all {
            let error = native.rule_bytes(rule).err().map(|error| error.to_string());
            refused += u32::from(error.is_some());
            assert_eq!(rules.add(rule).err().map(|error| error.to_string()), error, "{rule:?}");
        }
        rules.compile().unwrap();
        let native = native.build();
        let probe = native.probe();
        let expected = Probe {
            table: probe.table().to_vec(),
            shortest_prefix: probe.shortest_prefix() as u32,
            strips_connection: native.strips_connection(),
        };
        assert_eq!(rules.probe().unwrap(), expected);
        for _ in 0..100 {
            let name = name(&mut random, &all);
            let matches = rules.matches(&name).unwrap();
            assert_eq!(matches, native.matches(&name), "{name:?}");
            matched += u32::from(matches);
        }
    }
    assert!(refused > 200 && matched > 5_000, "{refused} were refused, {matched} matched");
}

#[test]
fn errors_have_the_same_parts_as_natively() {
    let edge = headers();
    let long = [b'x'; MAX_RULE_LENGTH + 1];
    for rule in [b"".as_slice(), b"*", b"x-*-id", b"x debug", b"x\xff", &long, &[b' '; 5_000]] {
        let fault = HeaderSetBuilder::new().rule_bytes(rule).unwrap_err().fault();
        let refusal = HeaderRules::new(&edge).unwrap().add(rule).unwrap_err();
        let refusal = refusal.downcast::<HeaderError>().unwrap();
        assert_eq!(refusal.message, fault.message);
        assert_eq!(refusal.byte, fault.byte);
        assert_eq!(refusal.offset.map(|offset| offset as usize), fault.offset);
    }
}

#[test]
fn names_longer_than_any_rule_match_as_natively() {
    let edge = headers();
    let longest = "x".repeat(MAX_RULE_LENGTH);
    for rule in [longest.clone(), longest.clone() + "*"] {
        let native = HeaderSetBuilder::new().rule(&rule).unwrap().build();
        let mut rules = HeaderRules::new(&edge).unwrap();
        rules.add(rule.as_bytes()).unwrap();
        rules.compile().unwrap();
        for length in [255, 256, 257, 258, 259, 10_000] {
            let name = vec![b'X'; length];
            assert_eq!(
                rules.matches(&name).unwrap(),
                native.matches(&name),
                "{rule}, {length} bytes"
            );
        }
    }
}

#[test]
fn a_set_accepts_as_many_rules_as_natively() {
    let edge = headers();
    let mut native = HeaderSetBuilder::new();
    let mut rules = HeaderRules::new(&edge).unwrap();
    for number in 0..MAX_RULES {
        let rule = format!("x-{number}");
        native.rule(&rule).unwrap();
        rules.add(rule.as_bytes()).unwrap();
    }
    let error = native.rule("y").unwrap_err().to_string();
    assert_eq!(rules.add(b"y").unwrap_err().to_string(), error);
    rules.compile().unwrap();
    let last = format!("X-{}", MAX_RULES - 1);
    assert!(rules.matches(last.as_bytes()).unwrap());
    assert!(!rules.matches(b"y").unwrap());
}

#[test]
fn presets_match_as_natively() {
    let edge = headers();
    let all = presets::ALL.map(|(_, requests, _)| requests).concat();
    let mut rules = HeaderRules::new(&edge).unwrap();
    all.iter().for_each(|rule| rules.add(rule.as_bytes()).unwrap());
    rules.compile().unwrap();
    let native = HeaderSetBuilder::new().rules(&all).unwrap().build();
    for name in all.into_iter().chain(["Accept", "Host", "CF-Ray", "x-middleware-subrequest"]) {
        let matches = rules.matches(name.as_bytes()).unwrap();
        assert_eq!(matches, native.matches(name.as_bytes()), "{name}");
    }
}

#[test]
fn nominated_fields_are_the_same_as_natively() {
    let edge = headers();
    let mut random = Random(5);
    let all: Vec<_> = (0..30).map(|_| token(&mut random)).collect();
    let mut builder = HeaderSetBuilder::new();
    let mut rules = HeaderRules::new(&edge).unwrap();
    for rule in &all {
        builder.rule_bytes(rule).unwrap();
        rules.add(rule).unwrap();
    }
    rules.compile().unwrap();
    let native = builder.build();
    for _ in 0..2_000 {
        let mut names: Vec<_> = (0..random.within(0..9)).map(|_| name(&mut random, &all)).collect();
        names.push(
            random.pick(&["Host", "upgrade", "TE", "x-forwarded-for", "X"]).as_bytes().to_vec(),
        );
        let value = names.join(*random.pick(&[b",".as_slice(), b" ,\t", b",,", b" "]));
        let ends = |option: &&[u8]| match nomination(option, b"") {
            Nomination::Keeps => None,
            Nomination::Removes => Some(b','),
            Nomination::Forbidden => Some(b':'),
        };
        let expected: Vec<u8> = connection_options(&value)
            .filter(|option| !native.matches(option))
            .filter_map(|option| ends(&option).map(|end| [option, &[end]].concat()))
            .flatten()
            .collect();
        assert_eq!(rules.nominated(&value).unwrap(), expected, "{}", value.escape_ascii());
    }
}
