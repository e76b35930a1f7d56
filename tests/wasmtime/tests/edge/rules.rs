use hedgerow_example_wasmtime_host::{BlockStripper, EdgeModule, RuleError};
use hedgerow_headers::{HeaderSet, HeaderSetBuilder, MAX_RULE_LENGTH, MAX_RULES, presets};
use hedgerow_tests_random::Random;

use crate::support::{
    edge::block as module,
    texts::{name, rule},
};

/// Compiles rules natively.
fn native<R: AsRef<[u8]>>(rules: &[R]) -> HeaderSet<'static> {
    let mut builder = HeaderSetBuilder::new();
    for rule in rules {
        builder.rule_bytes(rule.as_ref()).unwrap();
    }
    builder.build()
}

/// Returns whether a block can have a field of this name.
fn is_name(name: &[u8]) -> bool {
    !name.ends_with(b"*") && HeaderSetBuilder::new().rule_bytes(name).is_ok()
}

/// Asserts that rules that are compiled in the module strip the same names as natively, and returns how
/// many.
fn assert_strips<R: AsRef<[u8]>>(edge: &EdgeModule, rules: &[R], names: &[R]) -> usize {
    let stripper = BlockStripper::new(edge, rules, false).unwrap();
    let native = native(rules);
    let line = |name: &R| [name.as_ref(), b":\r\n"].concat();
    let mut block: Vec<u8> = names.iter().flat_map(line).collect();
    let kept: Vec<&R> = names.iter().filter(|name| !native.matches(name.as_ref())).collect();
    stripper.strip(&mut block).unwrap();
    assert!(block == kept.iter().copied().flat_map(line).collect::<Vec<_>>());
    names.len() - kept.len()
}

#[test]
fn rules_are_accepted_and_match_as_natively() {
    let edge = module();
    let mut random = Random(3);
    let (mut refused, mut matched) = (0, 0);
    for _ in 0..300 {
        let mut all: Vec<_> = (0..random.within(0..60)).map(|_| rule(&mut random)).collect();
        all.retain(|rule| {
            let mut builder = HeaderSetBuilder::new();
            let error = builder.rule_bytes(rule).err().map(|error| format!("rule 0: {error}"));
            refused += u32::from(error.is_some());
            let found = BlockStripper::new(&edge, &[rule], false).err().map(|it| it.to_string());
            assert_eq!(found, error, "{rule:?}");
            error.is_none()
        });
        let names = (0..100).map(|_| name(&mut random, &all));
        let names: Vec<_> = names.filter(|name| is_name(name)).collect();
        matched += assert_strips(&edge, &all, &names);
    }
    assert!(refused > 150 && matched > 5_000, "{refused} were refused, {matched} matched");
}

#[test]
fn errors_have_the_same_parts_as_natively() {
    let edge = module();
    let long = [b'x'; MAX_RULE_LENGTH + 1];
    for rule in [b"".as_slice(), b"*", b"x-*-id", b"x debug", b"x\xc3", &long, &[b' '; 5_000]] {
        let fault = HeaderSetBuilder::new().rule_bytes(rule).unwrap_err().fault();
        let rules = [b"x-a", b"x-b*".as_slice(), rule];
        let refusal = BlockStripper::new(&edge, &rules, false).err().unwrap();
        let RuleError { rule, reason } = refusal.downcast().unwrap();
        assert_eq!(rule, 2);
        assert_eq!(reason.message, fault.message);
        assert_eq!(reason.byte, fault.byte);
        assert_eq!(reason.offset.map(|offset| offset as usize), fault.offset);
    }
}

#[test]
fn the_longest_rules_match_as_natively() {
    let [name, prefix] = ["x", "y"].map(|letter| letter.repeat(MAX_RULE_LENGTH));
    let rules = [name.clone(), format!("{prefix}*")];
    let names = [&name, &prefix, &format!("{name}x"), &format!("{prefix}y")].map(String::clone);
    assert_eq!(assert_strips(&module(), &rules, &names), 3);
}

#[test]
fn a_set_accepts_as_many_rules_as_natively() {
    let edge = module();
    let mut rules: Vec<_> = (0..MAX_RULES).map(|number| format!("x-{number}")).collect();
    assert_eq!(assert_strips(&edge, &rules, &rules[MAX_RULES - 50..]), 50);
    rules.push("y".to_owned());
    let error = BlockStripper::new(&edge, &rules, false).err().unwrap().to_string();
    assert_eq!(error, format!("rule {MAX_RULES}: expected at most 32768 rules, found another"));
}

#[test]
fn presets_match_as_natively() {
    let all = presets::ALL.map(|(_, requests, _)| requests).concat();
    let names: Vec<_> = all.iter().map(|rule| rule.trim_end_matches('*')).collect();
    assert_eq!(assert_strips(&module(), &all, &names), all.len());
}
