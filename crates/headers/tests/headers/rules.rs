use hedgerow_headers::{HeaderSetBuilder, MAX_RULE_LENGTH, MAX_RULES, Rule};

use crate::support::{oracle::is_token, set_of};

/// Asserts that a builder refuses `rule` with `message`, and is unchanged.
fn assert_refused(rule: &str, message: &str) {
    let mut builder = HeaderSetBuilder::new();
    builder.rules(["x-kept", "x-kept-*"]).expect("valid rules");
    let before = builder.build();
    let error = builder.rule(rule).expect_err(rule);
    assert_eq!(error.to_string(), message);
    assert_eq!(builder.build().image(), before.image());
}

#[test]
fn an_empty_rule_is_refused() {
    assert_refused("", "expected a field name, found an empty rule");
}

#[test]
fn a_lone_star_is_refused() {
    assert_refused("*", "expected a prefix before '*', found a lone '*'");
}

#[test]
fn a_star_before_the_end_is_refused_at_its_position() {
    for (rule, position) in
        [("*-internal", 0), ("x-*-id", 2), ("x-*-*", 2), ("**", 0), ("x-**", 2), ("***", 0)]
    {
        assert_refused(
            rule,
            &format!("expected '*' only as the last character, found one at byte {position}"),
        );
    }
}

#[test]
fn a_character_outside_token_is_refused_at_its_position() {
    for byte in (0..0x80).filter(|&byte| !is_token(byte)) {
        let found = char::from(byte);
        for (rule, position) in
            [(format!("{found}"), 0), (format!("x-{found}-id"), 2), (format!("x-{found}*"), 2)]
        {
            assert_refused(
                &rule,
                &format!("expected a token character, found byte {byte:#04x} at byte {position}",),
            );
        }
    }
}

#[test]
fn a_character_outside_ascii_is_refused_at_its_position() {
    for found in ['\u{80}', '\u{e9}', '\u{ff}', '\u{17f}', '\u{212a}', '\u{1f512}'] {
        assert_refused(
            &format!("x-a{found}"),
            &format!(
                "expected a token character, found byte {:#04x} at byte 3",
                found.to_string().as_bytes()[0],
            ),
        );
    }
}

#[test]
fn rules_may_be_bytes_and_are_refused_if_not_ascii() {
    let mut builder = HeaderSetBuilder::new();
    builder.rule_bytes(b"X-Debug").expect("a name");
    builder.rule_bytes(b"x-internal-*").expect("a prefix");
    let same = set_of(["x-debug", "x-internal-*"]);
    assert_eq!(builder.build().image(), same.image());
    for byte in 0x80..=u8::MAX {
        let error = builder.rule_bytes(&[b'x', b'-', byte, b'*']).expect_err("not ASCII");
        let fault = error.fault();
        assert_eq!((fault.byte, fault.offset), (Some(byte), Some(2)));
        assert_eq!(error.to_string(), format!("{} {byte:#04x} at byte 2", fault.message));
    }
    assert_eq!(builder.build().image(), same.image());
}

#[test]
fn a_rule_may_be_as_long_as_the_limit_and_no_longer() {
    let longest = "x".repeat(MAX_RULE_LENGTH);
    let message = format!("expected at most {MAX_RULE_LENGTH} bytes, found more");
    for star in ["", "*"] {
        let set = set_of([format!("{longest}{star}")]);
        assert!(set.matches(longest.as_bytes()));
        assert_refused(&format!("{longest}x{star}"), &message);
    }
}

#[test]
fn a_builder_accepts_the_maximum_number_of_rules_and_any_of_them_again() {
    let mut builder = HeaderSetBuilder::new();
    builder.rules((0..MAX_RULES).map(|number| format!("x-{number}"))).expect("valid rules");
    builder.rule("X-0").expect("a rule that the builder holds");
    for another in ["x-0*", "y"] {
        let error = builder.rule(another).expect_err("one rule too many");
        assert_eq!(error.to_string(), format!("expected at most {MAX_RULES} rules, found another"));
        builder.rule("x-1").expect("a rule that the builder holds");
    }
}

#[test]
fn rules_before_the_first_refused_one_are_added() {
    let mut builder = HeaderSetBuilder::new();
    builder.rules(["x-a", "x b", "x-c"]).expect_err("a space");
    assert!(builder.build().rules().eq([Rule::Exact("x-a")]));
}

#[test]
fn a_rule_is_displayed_as_a_builder_accepts_it() {
    let set = set_of(["X-B", "x-A*"]);
    let written: Vec<String> = set.rules().map(|rule| rule.to_string()).collect();
    assert_eq!(written, ["x-a*", "x-b"]);
}
