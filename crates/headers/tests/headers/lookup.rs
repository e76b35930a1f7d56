use hedgerow_headers::{ESSENTIAL, HeaderSet, MAX_RULE_LENGTH, MAX_RULES, Mode, Rule};
use proptest::prelude::*;

use crate::support::{
    KINDS, Kind, for_owned_and_borrowed, for_sets_of,
    generate::{TOKEN_CHARACTERS, case},
    oracle::{Oracle, described, folded},
    set_of, set_with_mode,
};

proptest! {
    #[test]
    fn a_set_strips_what_its_rules_match_or_everything_else(case in case()) {
        for kind @ Kind(mode, spelling) in KINDS {
            let oracle = Oracle::of(mode, spelling, &case.rules);
            for_sets_of(kind, &case.rules, |set| {
                assert_eq!((set.mode(), set.spelling()), (mode, spelling));
                assert!(set.rules().map(|rule| described(&rule)).eq(oracle.sorted()));
                for name in &case.names {
                    assert_matches(set, name, oracle.matches(name));
                    let of_rule = set.rules().any(|rule| rule.matches(name, spelling));
                    assert_eq!(of_rule, oracle.matches(name));
                    let strips = oracle.strips(name);
                    assert_eq!(set.strips(name), strips, "{}", name.escape_ascii());
                    #[cfg(feature = "http")]
                    if let Ok(name) = http::HeaderName::from_bytes(name) {
                        assert_eq!(set.strips_name(&name), strips, "{name}");
                    }
                }
            });
        }
    }

    #[test]
    fn find_returns_the_name_itself_or_else_the_longest_prefix(case in case()) {
        for kind @ Kind(mode, spelling) in KINDS {
            let oracle = Oracle::of(mode, spelling, &case.rules);
            for_sets_of(kind, &case.rules, |set| {
                for name in &case.names {
                    let found = set.find(name).as_ref().map(described);
                    assert_eq!(found, oracle.find(name), "{}", name.escape_ascii());
                }
            });
        }
    }

    #[test]
    fn every_rule_finds_itself_in_either_case(case in case()) {
        for_owned_and_borrowed(&case.rules, |set| {
            for rule in set.rules() {
                let has_name = set.rules().any(|other| other == Rule::Exact(rule.text()));
                let expected = if has_name { Rule::Exact(rule.text()) } else { rule };
                assert_eq!(set.find(rule.text().as_bytes()), Some(expected));
                assert_eq!(set.find(rule.text().to_ascii_uppercase().as_bytes()), Some(expected));
            }
        });
    }

    #[test]
    fn rules_are_iterated_once_each_in_lower_case_and_sorted(case in case()) {
        let expected = Oracle::new(&case.rules).sorted();
        for_owned_and_borrowed(&case.rules, |set| {
            assert_eq!(set.len(), expected.len());
            assert_eq!(set.is_empty(), expected.is_empty());
            assert_eq!(set.rules().len(), expected.len());
            assert!(set.rules().map(|rule| described(&rule)).eq(expected.iter().cloned()));
            let backwards = set.rules().rev().map(|rule| described(&rule));
            assert!(backwards.eq(expected.iter().rev().cloned()));
            assert!(set.rules().all(|rule| rule.text() == rule.text().to_ascii_lowercase()));
        });
    }
}

/// Asserts whether `name` matches, by every method that tests it.
fn assert_matches(set: &HeaderSet<'_>, name: &[u8], expected: bool) {
    assert_eq!(set.matches(name), expected, "{}", name.escape_ascii());
    #[cfg(feature = "http")]
    if let Ok(name) = http::HeaderName::from_bytes(name) {
        assert_eq!(set.matches_name(&name), expected, "{name}");
    }
}

#[test]
fn a_set_without_rules_matches_nothing() {
    for_owned_and_borrowed([""; 0], |set| {
        assert!(set.is_empty());
        for name in [&b""[..], b"a", b"x-internal", &[b'a'; 1000]] {
            assert_matches(set, name, false);
            assert_eq!(set.find(name), None);
        }
    });
}

#[test]
fn the_empty_name_matches_nothing() {
    for_owned_and_borrowed(["a", "a*", "~*", "x-internal-*"], |set| {
        assert_matches(set, b"", false);
        assert_eq!(set.find(b""), None);
    });
}

#[test]
fn a_name_of_any_length_matches_itself_and_no_name_one_shorter_or_longer() {
    let text = |length: usize| -> String { ('a'..='z').cycle().take(length).collect() };
    for length in 1..=MAX_RULE_LENGTH {
        let rule = text(length);
        for_owned_and_borrowed([&rule], |set| {
            assert_matches(set, rule.as_bytes(), true);
            assert_matches(set, rule.to_ascii_uppercase().as_bytes(), true);
            assert_matches(set, text(length - 1).as_bytes(), false);
            assert_matches(set, text(length + 1).as_bytes(), false);
        });
    }
}

#[test]
fn a_prefix_of_any_length_matches_itself_and_everything_longer() {
    let text = |length: usize| -> String { ('a'..='z').cycle().take(length).collect() };
    for length in 1..=MAX_RULE_LENGTH {
        for_owned_and_borrowed([text(length) + "*"], |set| {
            for longer in [0, 1, 2, 7, 300, 70_000] {
                assert_matches(set, text(length + longer).as_bytes(), true);
                assert_matches(set, text(length + longer).to_ascii_uppercase().as_bytes(), true);
            }
            assert_matches(set, text(length - 1).as_bytes(), false);
        });
    }
}

#[test]
fn a_name_that_differs_in_one_byte_does_not_match() {
    for length in (1..=33).chain([63, 64, 65, 255, 256]) {
        let rule: Vec<u8> = TOKEN_CHARACTERS.iter().copied().cycle().take(length).collect();
        let text = str::from_utf8(&rule).expect("tokens are ASCII");
        let [exact, prefix] = [set_of([text]), set_of([format!("{text}*")])];
        let mut name = rule.clone();
        for position in 0..length {
            for byte in 0..=u8::MAX {
                name[position] = byte;
                let expected = folded(&[byte]) == folded(&rule[position..=position]);
                assert_eq!(exact.matches(&name), expected, "byte {byte:#04x} at {position}");
                assert_eq!(prefix.matches(&name), expected, "byte {byte:#04x} at {position}");
            }
            name[position] = rule[position];
        }
    }
}

#[test]
fn letters_match_in_either_case_and_marks_as_each_other_and_other_characters_only_themselves() {
    for &rule in TOKEN_CHARACTERS {
        let text = format!("x-{}-end", char::from(rule));
        for_owned_and_borrowed([text.clone(), format!("y{text}*")], |set| {
            for &found in TOKEN_CHARACTERS {
                let name = format!("x-{}-end", char::from(found));
                let expected = folded(&[rule]) == folded(&[found]);
                assert_matches(set, name.as_bytes(), expected);
                assert_matches(set, format!("y{name}ing").as_bytes(), expected);
            }
        });
    }
}

#[test]
fn characters_that_differ_only_in_the_case_bit_are_told_apart() {
    let folded_alike = [("^", "~"), ("x-^", "x-~"), ("x-caret-^-or-tilde", "x-caret-~-or-tilde")];
    for (caret, tilde) in folded_alike {
        for_owned_and_borrowed([caret], |set| {
            assert_matches(set, caret.as_bytes(), true);
            assert_matches(set, tilde.as_bytes(), false);
        });
        for_owned_and_borrowed([caret, tilde], |set| {
            assert_eq!(set.find(caret.as_bytes()), Some(Rule::Exact(caret)));
            assert_eq!(set.find(tilde.as_bytes()), Some(Rule::Exact(tilde)));
            assert_matches(set, tilde.as_bytes(), true);
        });
        for_owned_and_borrowed([format!("{caret}*")], |set| {
            assert_matches(set, format!("{caret}a").as_bytes(), true);
            assert_matches(set, format!("{tilde}a").as_bytes(), false);
        });
    }
    let pairs = [("_", "\x7f"), ("-", "\r"), ("0", "\x10"), ("`", "@"), ("|", "\\")];
    for (rule, other) in pairs {
        for_owned_and_borrowed([rule, &format!("{rule}{rule}*")], |set| {
            assert_matches(set, rule.as_bytes(), true);
            assert_matches(set, other.as_bytes(), false);
            assert_matches(set, other.repeat(2).as_bytes(), false);
        });
    }
}

#[test]
fn long_names_that_differ_between_the_hashed_words_are_told_apart() {
    let name = |letter: char| format!("x-long-n{letter}mes-with-a-mid{letter}le-and-an-end");
    let rules: Vec<String> = ('a'..='m').map(name).collect();
    for_owned_and_borrowed(&rules, |set| {
        for letter in 'a'..='z' {
            let expected = (letter <= 'm').then(|| name(letter));
            let found = set.find(name(letter).as_bytes());
            assert_eq!(found.map(|rule| rule.text().to_owned()), expected);
            assert_matches(set, name(letter).to_ascii_uppercase().as_bytes(), expected.is_some());
        }
    });
}

#[test]
fn bytes_outside_ascii_match_no_rule() {
    let rules = TOKEN_CHARACTERS.iter().map(|&byte| char::from(byte).to_string());
    for_owned_and_borrowed(rules, |set| {
        for byte in 0x80..=u8::MAX {
            assert_matches(set, &[byte], false);
        }
    });
    for_owned_and_borrowed(["k", "s", "x-k*"], |set| {
        for look_alike in ["\u{212a}", "\u{17f}", "x-\u{212a}", "X\u{ad}-k"] {
            assert_matches(set, look_alike.as_bytes(), false);
        }
    });
}

#[test]
fn a_prefix_matches_names_that_are_the_beginning_of_a_longer_rule() {
    for_owned_and_borrowed(["x-*", "x-internal-id", "x-internal-*"], |set| {
        for name in ["x-", "x-i", "x-internal", "X-INTERNA", "x-inter-nal"] {
            assert_eq!(set.find(name.as_bytes()), Some(Rule::Prefix("x-")));
            assert_matches(set, name.as_bytes(), true);
        }
        assert_eq!(set.find(b"x-internal-i"), Some(Rule::Prefix("x-internal-")));
    });
}

#[test]
fn a_name_takes_precedence_over_the_prefix_with_the_same_text() {
    for_owned_and_borrowed(["x-a", "x-a*", "x-*"], |set| {
        assert_eq!(set.find(b"x-a"), Some(Rule::Exact("x-a")));
        assert_eq!(set.find(b"x-ab"), Some(Rule::Prefix("x-a")));
        assert_eq!(set.find(b"x-"), Some(Rule::Prefix("x-")));
        assert_eq!(set.find(b"x"), None);
    });
}

#[test]
fn a_set_of_the_maximum_number_of_rules_matches_exactly_these() {
    let prefixes = (0..MAX_RULES / 8).map(|number| format!("x-{number:05}-*"));
    let names = (MAX_RULES / 8..MAX_RULES).map(|number| format!("name-{number:x}"));
    let rules: Vec<String> = prefixes.chain(names).collect();
    let set = set_of(&rules);
    assert_eq!(set.len(), MAX_RULES);
    let borrowed = HeaderSet::from_image(set.image()).expect("an image of a builder");
    for rule in &rules {
        let text = rule.trim_end_matches('*');
        let is_prefix = text.len() < rule.len();
        for set in [&set, &borrowed] {
            assert_matches(set, text.as_bytes(), true);
            assert_matches(set, format!("{text}+").as_bytes(), is_prefix);
            assert_matches(set, format!("+{text}").as_bytes(), false);
        }
        let expected = if is_prefix { Rule::Prefix(text) } else { Rule::Exact(text) };
        assert_eq!(set.find(text.as_bytes()), Some(expected));
    }
}

#[test]
fn an_allow_list_keeps_essential_fields_and_pseudo_fields_without_a_rule() {
    let set = set_with_mode(Mode::Keep, ["accept"]);
    for name in ESSENTIAL.iter().copied().chain(["Host", "CONNECTION", ":path", ":", "accept"]) {
        assert!(!set.strips(name.as_bytes()), "{name}");
    }
    for name in ["", "accept-encoding", "hosts", "te", "upgrade", "date", "x-:a"] {
        assert!(set.strips(name.as_bytes()), "{name}");
    }
    assert!(!set.strips_connection());
    let deny = set_of(["accept"]);
    assert!(!deny.strips(b":path") && !deny.strips(b"") && deny.strips(b"Accept"));
}

#[test]
fn an_allow_list_without_rules_keeps_only_essential_fields() {
    let set = set_with_mode(Mode::Keep, [""; 0]);
    assert!(set.rules().eq(ESSENTIAL.iter().map(|name| Rule::Exact(name))));
    assert!(set.strips(b"accept") && !set.strips(b"host"));
}

#[test]
fn every_spelling_of_a_rule_is_one_name_for_programs_that_read_variables() {
    for_owned_and_borrowed(["x-internal-user", "X_Trace.*"], |set| {
        for name in
            ["x-internal_user", "X_INTERNAL_USER", "x.internal-user", "x-trace.id", "X_Trace"]
        {
            assert_matches(set, name.as_bytes(), name.len() > 7);
        }
        assert_eq!(set.find(b"x_internal.user"), Some(Rule::Exact("x-internal-user")));
        assert_eq!(set.find(b"x.trace_id"), Some(Rule::Prefix("x-trace-")));
    });
    assert!(
        set_of(["x-a", "x_a", "X.A", "x-a*", "x_a*"])
            .rules()
            .eq([Rule::Exact("x-a"), Rule::Prefix("x-a"),])
    );
}

#[test]
fn an_allow_list_keeps_no_other_spelling_of_a_name_unless_it_is_listed() {
    for_sets_of(KINDS[2], ["x-app-user", "x-app.id", "x-open-*"], |set| {
        for (name, is_kept) in [
            ("X-App-User", true),
            ("x-app_user", false),
            ("x_app_user", false),
            ("x-app.id", true),
            ("x-app-id", false),
            ("x-open-a_b", true),
            ("x-open_a", false),
            ("content_length", false),
        ] {
            assert_eq!(set.strips(name.as_bytes()), !is_kept, "{name}");
        }
    });
}
