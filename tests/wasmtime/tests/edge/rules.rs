use hedgerow_example_wasmtime_host::{EdgeModule, RuleError, compile_rules};
use hedgerow_headers::{HeaderSet, HeaderSetBuilder, MAX_RULE_LENGTH, MAX_RULES, Mode, presets};
use hedgerow_tests_random::Random;

use crate::support::{
    edge::headers,
    texts::{name, rule},
};

/// Compiles rules in the module.
fn compiled<R: AsRef<[u8]>>(edge: &EdgeModule, rules: &[R]) -> HeaderSet<'static> {
    HeaderSet::from_image_vec(compile_rules(edge, rules, false).unwrap()).unwrap()
}

/// Compiles rules natively.
fn native<R: AsRef<[u8]>>(rules: &[R]) -> HeaderSet<'static> {
    let mut builder = HeaderSetBuilder::new();
    for rule in rules {
        builder.rule_bytes(rule.as_ref()).unwrap();
    }
    builder.build()
}

#[test]
fn allow_lists_are_compiled_as_natively() {
    let edge = headers();
    for rules in [&[][..], &["x-a", "Host", "cf-int-*"]] {
        let compiled = compile_rules(&edge, rules, true).unwrap();
        let set = HeaderSet::from_image_vec(compiled).unwrap();
        let mut native = HeaderSetBuilder::with_mode(Mode::Keep);
        let native = native.rules(rules).unwrap().build();
        assert_eq!(set.mode(), Mode::Keep);
        assert_equal(&set, &native);
    }
}

/// Asserts that the images have the same rules and the same probe.
fn assert_equal(set: &HeaderSet<'_>, native: &HeaderSet<'_>) {
    assert!(set.rules().eq(native.rules()));
    assert_eq!(set.strips_connection(), native.strips_connection());
    let (probe, expected) = (set.probe(), native.probe());
    assert!(probe.slots() == expected.slots());
    assert!(probe.chains() == expected.chains());
    assert_eq!(probe.shortest_prefix(), expected.shortest_prefix());
}

#[test]
fn rules_are_accepted_and_match_as_natively() {
    let edge = headers();
    let mut random = Random(3);
    let (mut refused, mut matched) = (0, 0);
    for _ in 0..300 {
        let mut all: Vec<_> = (0..random.within(0..60)).map(|_| rule(&mut random)).collect();
        all.retain(|rule| {
            let mut builder = HeaderSetBuilder::new();
            let error = builder.rule_bytes(rule).err().map(|error| format!("rule 0: {error}"));
            refused += u32::from(error.is_some());
            let found = compile_rules(&edge, &[rule], false).err().map(|error| error.to_string());
            assert_eq!(found, error, "{rule:?}");
            error.is_none()
        });
        let (set, native) = (compiled(&edge, &all), native(&all));
        assert_equal(&set, &native);
        for _ in 0..100 {
            let name = name(&mut random, &all);
            let matches = set.matches(&name);
            assert_eq!(matches, native.matches(&name), "{name:?}");
            matched += u32::from(matches);
        }
    }
    assert!(refused > 150 && matched > 5_000, "{refused} were refused, {matched} matched");
}

#[test]
fn errors_have_the_same_parts_as_natively() {
    let edge = headers();
    let long = [b'x'; MAX_RULE_LENGTH + 1];
    for rule in [b"".as_slice(), b"*", b"x-*-id", b"x debug", b"x\xc3", &long, &[b' '; 5_000]] {
        let fault = HeaderSetBuilder::new().rule_bytes(rule).unwrap_err().fault();
        let refusal = compile_rules(&edge, &[b"x-a", b"x-b*".as_slice(), rule], false).unwrap_err();
        let RuleError { rule, reason } = refusal.downcast().unwrap();
        assert_eq!(rule, 2);
        assert_eq!(reason.message, fault.message);
        assert_eq!(reason.byte, fault.byte);
        assert_eq!(reason.offset.map(|offset| offset as usize), fault.offset);
    }
}

#[test]
fn the_longest_rules_are_compiled_as_natively() {
    let longest = "x".repeat(MAX_RULE_LENGTH);
    let rules = [longest.clone(), longest + "*"];
    assert_equal(&compiled(&headers(), &rules), &native(&rules));
}

#[test]
fn a_set_accepts_as_many_rules_as_natively() {
    let edge = headers();
    let mut rules: Vec<_> = (0..MAX_RULES).map(|number| format!("x-{number}")).collect();
    assert_equal(&compiled(&edge, &rules), &native(&rules));
    rules.push("y".to_owned());
    let error = compile_rules(&edge, &rules, false).unwrap_err().to_string();
    assert_eq!(error, format!("rule {MAX_RULES}: expected at most 32768 rules, found another"));
}

#[test]
fn presets_are_compiled_as_natively() {
    let all = presets::ALL.map(|(_, requests, _)| requests).concat();
    assert_equal(&compiled(&headers(), &all), &native(&all));
}
