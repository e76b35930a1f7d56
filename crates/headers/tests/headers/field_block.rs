use hedgerow_headers::{HeaderSetBuilder, MAX_NOMINATED, Mode, connection_options};
use proptest::{collection::vec, prelude::*};

use crate::support::{
    KINDS, Kind, for_owned_and_borrowed, for_sets_of,
    generate::{Case, case, token},
    oracle::{Oracle, is_token},
    set_of,
};

const FRAMING_VALUES: [&str; 4] = ["44", "Host, TE", "upgrade,content-LENGTH", " Trailers "];

/// A value of any bytes that a field line may hold, often a list as in `Connection`.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let any_byte = any::<u8>().prop_map(|byte| if b"\r\n\0".contains(&byte) { b' ' } else { byte });
    prop_oneof![
        vec(any_byte, 0..12),
        vec(token(), 0..4).prop_map(|options| options.join(&b" , "[..])),
        Just(b"close, @, x-a b,, X-Internal-".to_vec()),
        prop::sample::select(&FRAMING_VALUES[..]).prop_map(str::as_bytes).prop_map(<[u8]>::to_vec),
    ]
}

/// A name that frames or routes a message, or that `Connection` treats specially.
fn framing() -> impl Strategy<Value = Vec<u8>> {
    let names = ["Connection", "connection", "Content-Length", "transfer-encoding", "HOST", "te"];
    prop::sample::select([&names[..], &["Upgrade", "x-Forwarded-For", "cookie"]].concat())
        .prop_map(|name| name.as_bytes().to_vec())
}

/// Rules, and a well-formed block of names that match them or nearly do.
fn rules_and_block() -> impl Strategy<Value = (Vec<String>, Vec<u8>)> {
    let line = (value(), vec((prop::sample::select(&[" ", "\t"][..]), value()), 0..2));
    (case(), vec(prop_oneof![token(), framing()], 0..6), vec(line, 60), any::<bool>()).prop_map(
        |(Case { rules, mut names }, others, lines, is_closed)| {
            names.extend(others);
            names.retain(|name| !name.is_empty() && name.iter().all(|&byte| is_token(byte)));
            let mut block = Vec::new();
            for (name, (value, folded)) in names.iter().zip(&lines) {
                block.extend([name, &b": "[..], value, b"\r\n"].concat());
                for (space, value) in folded {
                    block.extend([space.as_bytes(), value, b"\r\n"].concat());
                }
            }
            block.extend(if is_closed { &b"\r\n"[..] } else { b"" });
            (rules, block)
        },
    )
}

proptest! {
    #[test]
    fn a_block_keeps_exactly_the_fields_that_the_set_does_not_strip(
        (rules, block) in rules_and_block()
    ) {
        for kind @ Kind(mode, spelling) in KINDS {
            let oracle = Oracle::of(mode, spelling, &rules);
            for_sets_of(kind, &rules, |set| {
                oracle.assert_strips_block(set, &block);
            });
        }
    }

    #[test]
    fn a_set_that_strips_connection_strips_what_it_nominates(
        (mut rules, block) in rules_and_block()
    ) {
        rules.push("connection".to_owned());
        let oracle = Oracle::new(&rules);
        for_owned_and_borrowed(&rules, |set| {
            oracle.assert_strips_block(set, &block);
        });
    }

    #[test]
    fn a_block_with_one_changed_byte_is_read_according_to_the_grammar(
        (rules, block) in rules_and_block(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![prop::sample::select(&b"\r\n\0: \t"[..]), any::<u8>()],
    ) {
        let mut changed = block;
        if !changed.is_empty() {
            let at = at.index(changed.len());
            changed[at] = byte;
        }
        let oracle = Oracle::new(&rules);
        oracle.assert_strips_block(&set_of(&rules), &changed);
    }

    #[test]
    fn arbitrary_bytes_are_accepted_only_if_they_are_well_formed(
        block in vec(prop_oneof![4 => prop::sample::select(&b"\r\n\0: \ta"[..]), 1 => any::<u8>()], 0..24),
    ) {
        let rules = ["a", "connection"];
        Oracle::new(&rules).assert_strips_block(&set_of(rules), &block);
    }

    #[test]
    fn connection_options_are_the_tokens_between_commas(value in value()) {
        let expected = value
            .split(|&byte| byte == b',')
            .map(<[u8]>::trim_ascii)
            .filter(|option| !option.is_empty() && option.iter().all(|&byte| is_token(byte)));
        prop_assert!(connection_options(&value).eq(expected));
    }
}

/// Asserts that stripping `block` by `rules` leaves `left`.
fn assert_left(rules: &[&str], block: &str, left: &str) {
    for_owned_and_borrowed(rules, |set| {
        let mut block = block.as_bytes().to_vec();
        let length = set.strip_block(&mut block).expect("a well-formed block");
        assert_eq!(
            block[..length].escape_ascii().to_string(),
            left.as_bytes().escape_ascii().to_string()
        );
    });
}

#[test]
fn a_block_may_be_empty_and_may_end_with_or_without_an_empty_line() {
    assert_left(&["x-*"], "", "");
    assert_left(&["x-*"], "\r\n", "\r\n");
    assert_left(&["x-*"], "x-a: 1\r\n", "");
    assert_left(&["x-*"], "x-a: 1\r\n\r\n", "\r\n");
    assert_left(&["x-*"], "a: 1\r\nx-a: 1\r\n", "a: 1\r\n");
}

#[test]
fn kept_fields_keep_their_order_their_duplicates_and_every_byte() {
    assert_left(
        &["x-*"],
        "B: 2\r\nX-A: 1\r\na:1\r\nb:\r\nx-b:\r\nx-c:\r\nA:\t1 \r\n\r\n",
        "B: 2\r\na:1\r\nb:\r\nA:\t1 \r\n\r\n",
    );
}

#[test]
fn a_folded_line_is_kept_or_removed_with_the_field_that_it_continues() {
    assert_left(
        &["x-a"],
        "a: 1\r\n x-a: 2\r\nx-a: 3\r\n\tb: 4\r\n \r\nc: 5\r\n",
        "a: 1\r\n x-a: 2\r\nc: 5\r\n",
    );
}

#[test]
fn every_connection_field_nominates_fields_before_and_after_it() {
    assert_left(
        &["connection"],
        "x-late: 1\r\nConnection: close, X-LATE\r\nx-hop: 2\r\nclose: 3\r\nCONNECTION: x-hop,\r\n @, x-folded\r\nx-folded: 4\r\na: 5\r\n",
        "a: 5\r\n",
    );
}

/// Asserts that `block` is refused at the line that begins with `at`, and is unchanged.
fn assert_refused(rules: &[&str], block: &str, at: &str, expected: &str) {
    for_owned_and_borrowed(rules, |set| {
        let mut refused = block.as_bytes().to_vec();
        let error = set.strip_block(&mut refused).expect_err(block);
        let offset = block.find(at).expect("a line of the block");
        assert_eq!(error.to_string(), format!("{expected} at byte {offset}"), "{block:?}");
        assert_eq!(refused, block.as_bytes());
    });
}

#[test]
fn a_connection_that_nominates_a_field_for_all_recipients_is_refused() {
    let expected = "expected a field that may be nominated, found another";
    for name in ["Content-Length", "transfer-ENCODING", "host", "Cookie", "authorization", "via"]
        .into_iter()
        .chain(["x-forwarded-for", "X-Forwarded-Anything", "forwarded", "set-cookie"])
    {
        let line = format!("{name}: 1\r\n");
        for option in [name.to_lowercase(), name.to_uppercase()] {
            for nomination in [
                format!("Connection: {option}\r\n"),
                format!("connection: close,, {option} ,\r\n"),
                format!("CONNECTION: close\r\nConnection:{option}\r\n"),
                format!("Connection: close,\r\n {option}\r\n"),
            ] {
                let rules = ["connection", "keep-alive"];
                assert_refused(&rules, &format!("a: 1\r\n{nomination}{line}"), &line, expected);
                assert_refused(&rules, &format!("{line}{nomination}\r\n"), &line, expected);
            }
        }
        // Nominating an absent field has no effect. A field that a rule matches is removed instead.
        assert_left(&["connection"], &format!("Connection: {name}\r\na: 1\r\n"), "a: 1\r\n");
        let reframed = ["connection", name];
        assert_left(&reframed, &format!("Connection: {name}\r\n{line}a: 1\r\n"), "a: 1\r\n");
        // With a parameter it is not an option.
        assert_left(&["connection"], &format!("connection: {name};q=1\r\n{line}"), &line);
    }
}

#[test]
fn a_nomination_keeps_upgrade_and_a_te_that_accepts_trailers() {
    assert_left(
        &["connection"],
        "Connection: Upgrade, TE\r\nUpgrade: websocket\r\nTE:\t Trailers \r\nTE: gzip\r\n",
        "Upgrade: websocket\r\nTE:\t Trailers \r\n",
    );
}

#[test]
fn a_block_that_frames_its_body_twice_is_refused() {
    let expected = "expected one field that frames the body, found more";
    let (length, encoding) = ("Content-Length: 4\r\n", "TRANSFER-encoding: chunked\r\n");
    for rules in [&["x-a"][..], &["content-length", "transfer-encoding"]] {
        assert_refused(rules, &format!("a: 1\r\n{length}{encoding}"), encoding, expected);
        assert_refused(rules, &format!("{encoding}b: 1\r\n{length}"), length, expected);
        assert_refused(rules, &format!("{length}content-length: 4\r\n"), "content-l", expected);
    }
    // Two lines of `Transfer-Encoding` are one list.
    assert_left(&["x-a"], &encoding.repeat(2), &encoding.repeat(2));
}

#[test]
fn connection_may_nominate_itself() {
    assert_left(&["connection"], "connection: connection, a\r\na: 1\r\nb: 2\r\n", "b: 2\r\n");
}

#[test]
fn connection_nominates_nothing_if_no_rule_matches_it() {
    assert_left(&["x-a"], "connection: a\r\na: 1\r\nx-a: 2\r\n", "connection: a\r\na: 1\r\n");
}

#[test]
fn an_allow_list_keeps_connection_and_what_it_nominates() {
    let block = "Host: a\r\nConnection: x-hop\r\nx-hop: 1\r\nx-b: 2\r\nContent-Length: 4\r\n\r\n";
    let mut bytes = block.as_bytes().to_vec();
    let allowed = HeaderSetBuilder::with_mode(Mode::Keep).rule("x-hop").expect("a rule").build();
    let length = allowed.strip_block(&mut bytes).expect("a well-formed block");
    assert_eq!(bytes[..length], *block.replace("x-b: 2\r\n", "").as_bytes());
    // A second set removes them on purpose.
    let left = "Host: a\r\nContent-Length: 4\r\n\r\n";
    assert_left(&["connection"], core::str::from_utf8(&bytes[..length]).expect("text"), left);
}

#[test]
fn an_option_that_is_not_a_token_nominates_nothing() {
    assert_left(
        &["connect*"],
        "connection: a b, c:, \"d\"\r\na: 1\r\nc: 2\r\nd: 3\r\n",
        "a: 1\r\nc: 2\r\nd: 3\r\n",
    );
}

/// Returns field lines whose names are `beginning` followed by a number.
fn numbered_lines(beginning: &str, count: usize) -> String {
    (0..count).map(|number| format!("{beginning}{number}:\r\n")).collect()
}

/// Returns a `Connection` line that nominates `count` fields.
fn nominating(count: usize) -> String {
    let options: Vec<String> = (0..count).map(|number| format!("a{number}")).collect();
    format!("connection: {}\r\n", options.join(","))
}

#[test]
fn nominations_up_to_the_limit_are_stripped() {
    let [removed, kept] = ["A", "b"].map(|beginning| numbered_lines(beginning, MAX_NOMINATED));
    let line = nominating(MAX_NOMINATED);
    assert_left(&["connection"], &format!("{removed}{line}{kept}"), &kept);
    assert_left(&["connection"], &format!("{line}{line}{removed}{kept}"), &kept);
    // Fields that a rule matches do not count.
    assert_left(&["connection", "a1*"], &format!("{}{removed}{kept}", nominating(1100)), &kept);
}

#[test]
fn a_nomination_beyond_the_limit_is_refused_at_its_line() {
    let beginning = format!("x-debug: 1\r\n{}", nominating(MAX_NOMINATED));
    let before = format!("{beginning}connection: b\r\n");
    let mut block = before.clone().into_bytes();
    let error = set_of(["connection", "x-*"]).strip_block(&mut block).expect_err("one too many");
    let expected = format!("expected at most {MAX_NOMINATED} nominated fields");
    assert_eq!(error.to_string(), format!("{expected}, found more at byte {}", beginning.len()));
    assert_eq!(block, before.into_bytes());
}

#[test]
fn a_malformed_block_is_refused_at_the_fault_and_left_unchanged() {
    let bare_lf = "expected CR before LF, found LF alone";
    let bare_cr = "expected LF after CR, found another byte";
    let nul = "expected no NUL, found one";
    let no_colon = "expected a colon after the field name, found the line's end";
    let space_in_name = "expected a colon after the field name, found white space";
    let no_end = "expected CR LF at the end, found none";
    let empty_name = "expected a field name, found a colon";
    let empty_line = "expected the empty line last, found more after it";
    let leading_space = "expected a field name, found white space with no field to continue";
    let not_token = "expected a token character or a colon, found byte ";
    for (wrong, offset, expected) in [
        ("b: 1\n", 4, bare_lf),
        ("b: 1\nc: 2\r\n", 4, bare_lf),
        ("b\n: 1\r\n", 1, bare_lf),
        ("\n", 0, bare_lf),
        ("b: 1\r\n c\n\r\n", 8, bare_lf),
        ("b: 1\rc\r\n", 4, bare_cr),
        ("b: 1\r\r\n", 4, bare_cr),
        ("b\r: 1\r\n", 1, bare_cr),
        ("\rb: 1\r\n", 0, bare_cr),
        ("b: \0\r\n", 3, nul),
        ("b\0: 1\r\n", 1, nul),
        ("b\r\n", 1, no_colon),
        ("b\r\nc: 1\r\n", 1, no_colon),
        ("b : 1\r\n", 1, space_in_name),
        ("b\t: 1\r\n", 1, space_in_name),
        ("b c: 1\r\n", 1, space_in_name),
        ("b: 1", 4, no_end),
        ("b: 1\r", 5, no_end),
        ("b: 1\r\n c", 8, no_end),
        ("b", 1, no_end),
        ("b\r", 2, no_end),
        ("\r", 1, no_end),
        (": 1\r\n", 0, empty_name),
        ("\r\nb: 1\r\n", 0, empty_line),
        ("b: 1\r\n\r\nc: 2\r\n", 6, empty_line),
        ("b: 1\r\n\r\n\r\n", 6, empty_line),
        ("b: 1\r\n\r\n c\r\n", 6, empty_line),
        ("b\u{e9}: 1\r\n", 1, &format!("{not_token}0xc3")),
        ("b(c): 1\r\n", 1, &format!("{not_token}0x28")),
        ("\"b\": 1\r\n", 0, &format!("{not_token}0x22")),
        ("\x7f: 1\r\n", 0, &format!("{not_token}0x7f")),
    ] {
        for beginning in ["", "x-a: 1\r\na: 2\r\n", "connection: b, c\r\n"] {
            let offset = beginning.len() + offset;
            for_owned_and_borrowed(["x-*", "connection"], |set| {
                let before = [beginning.as_bytes(), wrong.as_bytes()].concat();
                let mut block = before.clone();
                let error = set.strip_block(&mut block).expect_err(wrong);
                assert_eq!(error.to_string(), format!("{expected} at byte {offset}"), "{wrong:?}");
                assert_eq!(error.offset(), offset, "{wrong:?}");
                assert_eq!(block, before);
            });
        }
    }
    for space in [" ", "\t"] {
        let mut block = format!("{space}a: 1\r\n").into_bytes();
        let error = set_of(["a"]).strip_block(&mut block).expect_err("white space first");
        assert_eq!(error.to_string(), format!("{leading_space} at byte 0"));
        assert_eq!(block, format!("{space}a: 1\r\n").into_bytes());
    }
}
