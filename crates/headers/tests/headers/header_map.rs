use std::cell::Cell;

use hedgerow_headers::{HeaderSet, Mode};
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::{collection::vec, prelude::*};

use crate::support::{
    KINDS, Kind, for_owned_and_borrowed, for_sets_of, for_sets_with_mode,
    generate::{case, token},
    oracle::Oracle,
    set_of,
};

/// Fields in order. A name may occur several times.
type Fields = Vec<(HeaderName, HeaderValue)>;

/// Asserts that `set` strips the same fields from a map of `fields` as the oracle.
fn assert_strips_as_the_oracle(set: &HeaderSet<'_>, oracle: &Oracle<'_>, fields: &Fields) {
    let connections: Vec<&[u8]> = fields
        .iter()
        .filter(|(name, _)| name == http::header::CONNECTION)
        .map(|(_, value)| value.as_bytes())
        .collect();
    let removed: Option<Vec<bool>> = fields
        .iter()
        .map(|(name, value)| {
            oracle.removes(name.as_str().as_bytes(), value.as_bytes(), &connections)
        })
        .collect();
    let mut map: HeaderMap = fields.iter().cloned().collect();
    let before = map.clone();
    let result = set.strip(&mut map);
    let Some(removed) = removed else {
        let error = result.expect_err("a forbidden nomination");
        assert!(before.contains_key(error.name()));
        assert_eq!(map, before);
        return;
    };
    // A name is removed with all of its values.
    let is_removed = |name: &HeaderName| {
        fields.iter().zip(&removed).any(|((n, _), &is_removed)| is_removed && n == name)
    };
    let expected: HeaderMap =
        fields.iter().filter(|(name, _)| !is_removed(name)).cloned().collect();
    assert_eq!(map, expected);
    assert_eq!(result, Ok(before.keys_len() - expected.keys_len()));
}

/// Returns fields with these names, each with a different value.
fn numbered<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Fields {
    let field = |(number, name): (i32, N)| {
        let name = HeaderName::from_bytes(name.as_ref().as_bytes()).expect("a token");
        (name, HeaderValue::from(number))
    };
    (0..).zip(names).map(field).collect()
}

fn value() -> impl Strategy<Value = HeaderValue> {
    vec(token(), 0..4).prop_map(|options| {
        HeaderValue::from_bytes(&options.join(&b" ,\t"[..])).expect("tokens and white space")
    })
}

proptest! {
    #[test]
    fn a_map_keeps_exactly_the_fields_that_the_set_does_not_strip(
        case in case(),
        tokens in vec(token(), 0..8),
        values in vec(value(), 80),
        strips_connection in any::<bool>(),
    ) {
        let mut rules = case.rules;
        rules.extend(strips_connection.then(|| "connection".to_owned()));
        let fields: Fields = case
            .names
            .iter()
            .chain(&tokens)
            .filter_map(|name| HeaderName::from_bytes(name).ok())
            .zip(values)
            .collect();
        for kind @ Kind(mode, spelling) in KINDS {
            let oracle = Oracle::of(mode, spelling, &rules);
            for_sets_of(kind, &rules, |set| {
                assert_strips_as_the_oracle(set, &oracle, &fields);
            });
        }
    }
}

/// Asserts that the set of `rules` strips the same fields from a map of `fields` as the oracle.
fn assert_stripped<R: AsRef<str>>(rules: &[R], fields: &Fields) {
    let oracle = Oracle::new(rules);
    for_owned_and_borrowed(rules, |set| assert_strips_as_the_oracle(set, &oracle, fields));
}

#[test]
fn all_values_of_a_name_are_removed_and_the_values_of_others_keep_their_order() {
    let fields = numbered(["a", "x-a", "a", "b", "x-a", "a", "b", "x-b"]);
    let mut map: HeaderMap = fields.iter().cloned().collect();
    assert_stripped(&["x-a", "x-b*"], &fields);
    set_of(["x-*"]).strip(&mut map).expect("no nomination");
    assert!(map.get_all("a").iter().eq(["0", "2", "5"]));
    assert!(map.get_all("b").iter().eq(["3", "6"]));
}

#[test]
fn any_number_of_matching_names_is_removed() {
    for count in [0, 1, 30, 31, 32, 33, 64, 65, 99, 100, 101, 500] {
        let exact = (0..count).map(|number| format!("x-exact-{number}"));
        let prefixed = (0..count).map(|number| format!("x-prefix-{number}"));
        let kept = (0..count).map(|number| format!("x-kept-{number}"));
        let mixed = exact.clone().zip(prefixed.clone()).zip(kept.clone());
        let mixed = mixed.flat_map(|((exact, prefixed), kept)| [exact, kept, prefixed]);

        let mut rules: Vec<String> = exact.clone().collect();
        rules.push("x-prefix-*".to_owned());
        for fields in [
            numbered(exact.clone().chain(kept.clone())),
            numbered(prefixed.clone().chain(kept.clone())),
            numbered(kept.chain(exact.clone())),
            numbered(prefixed.clone().chain(exact.clone())),
            numbered(exact.clone().chain(prefixed.clone())),
            numbered(exact.chain(prefixed)),
            numbered(mixed),
        ] {
            assert_stripped(&rules, &fields);
        }
    }
}

#[test]
fn any_number_of_names_without_a_rule_is_removed_by_an_allow_list() {
    for count in [0, 1, 30, 31, 32, 33, 64, 65, 500] {
        let rules: Vec<String> = (0..count).map(|number| format!("x-kept-{number}")).collect();
        let others = (0..count).map(|number| format!("x-other-{number}"));
        let fields = numbered(rules.iter().cloned().zip(others).flat_map(<[String; 2]>::from));
        let oracle = Oracle::with_mode(Mode::Keep, &rules);
        for_sets_with_mode(Mode::Keep, &rules, |set| {
            assert_strips_as_the_oracle(set, &oracle, &fields);
        });
    }
}

#[test]
fn standard_names_are_removed_like_others() {
    let standard =
        ["accept", "cookie", "host", "connection", "te", "user-agent", "x-frame-options"];
    for rule in standard {
        assert_stripped(&[rule], &numbered(standard));
        let rules = [rule];
        let oracle = Oracle::with_mode(Mode::Keep, &rules);
        for_sets_with_mode(Mode::Keep, rules, |set| {
            assert_strips_as_the_oracle(set, &oracle, &numbered(standard));
        });
        assert_stripped(&[format!("{}*", &rule[..2])], &numbered(standard));
    }
    assert_stripped(&standard, &numbered(standard));
}

#[test]
fn names_with_the_same_hash_are_told_apart() {
    let twin = |letter: char| format!("x-long-n{letter}mes-with-a-mid{letter}le-and-an-end");
    let names: Vec<String> = ('a'..='z')
        .map(twin)
        .chain(["x-^", "x-~", "^", "~", "x-|a", "accept", "tuuu", "tuuuu"].map(str::to_owned))
        .collect();
    let rules_of_each_kind = [
        vec![twin('a')],
        ('a'..='m').map(twin).collect(),
        vec!["x-^".to_owned()],
        vec!["x-^".to_owned(), "x-~".to_owned(), "~".to_owned()],
        vec!["x-^".to_owned(), "x-~".to_owned(), "x-long*".to_owned()],
        // They share a hash of whole bytes under every seed, but none of bits.
        vec!["tuuu".to_owned(), "tuuuu".to_owned()],
    ];
    for rules in rules_of_each_kind {
        assert_stripped(&rules, &numbered(&names));
    }
}

/// Returns one field for each name, and one `Connection` field for each value.
fn with_connections(values: &[&'static str], names: &[&str]) -> Fields {
    let mut fields = numbered(names);
    let connection = |value| (http::header::CONNECTION, HeaderValue::from_static(value));
    fields.extend(values.iter().copied().map(connection));
    fields
}

#[test]
fn a_set_that_strips_connection_strips_what_every_connection_field_nominates() {
    let fields = with_connections(
        &["keep-alive, X-Hop", "x-OTHER , accept"],
        &["keep-alive", "x-hop", "x-other", "accept", "x-hop", "host"],
    );
    for rules in [&["connection"][..], &["conn*"], &["Connection", "x-*", "accept"]] {
        assert_stripped(rules, &fields);
    }
    let mut map: HeaderMap = fields.into_iter().collect();
    let set = set_of(["connection"]);
    assert_eq!(set.strip(&mut map), Ok(5));
    assert!(map.keys().eq(["host"]));
}

#[test]
fn a_nomination_of_a_field_for_all_recipients_is_refused() {
    for (value, name) in [
        ("Content-Length", "content-length"),
        ("close, HOST", "host"),
        ("x-hop, transfer-encoding", "transfer-encoding"),
        ("x-forwarded-for", "x-forwarded-for"),
        ("cookie", "cookie"),
    ] {
        let fields = with_connections(&["keep-alive", value], &["x-hop", name, "accept"]);
        assert_stripped(&["connection"], &fields);
        let mut map: HeaderMap = fields.into_iter().collect();
        let error = set_of(["connection"]).strip(&mut map).expect_err(value);
        let expected = "Connection: expected an option that may be nominated, found";
        assert_eq!(error.to_string(), format!("{expected} {name}"));
        // A rule that matches the field removes it: the caller reframes or reroutes the message.
        assert_eq!(
            set_of(["connection", name]).strip(&mut map),
            Ok(if value.contains("x-hop") { 3 } else { 2 })
        );
    }
}

#[test]
fn a_nomination_keeps_upgrade_and_a_te_that_accepts_trailers() {
    let te = |value| (http::header::TE, HeaderValue::from_static(value));
    let mut fields = with_connections(&["Upgrade, TE"], &["upgrade", "accept"]);
    fields.push(te("trailers"));
    assert_stripped(&["connection"], &fields);
    fields.push(te("gzip"));
    assert_stripped(&["connection"], &fields);
}

#[test]
fn connection_may_nominate_itself_and_is_counted_once() {
    let mut map: HeaderMap = with_connections(&["connection, close"], &["a"]).into_iter().collect();
    assert_eq!(set_of(["connection"]).strip(&mut map), Ok(1));
    assert_eq!(map.keys_len(), 1);
}

#[test]
fn a_set_that_leaves_connection_leaves_what_it_nominates() {
    assert_stripped(&["x-a"], &with_connections(&["x-hop"], &["x-hop", "x-a"]));
}

#[test]
fn options_that_are_not_tokens_are_skipped() {
    let values = ["a b, \"c\", @, , d:,e", "(f)", ""];
    assert_stripped(&["connection"], &with_connections(&values, &["a", "b", "c", "d", "e", "f"]));
}

#[test]
fn nominated_fields_are_stripped_from_maps_of_any_size() {
    let exact: Vec<String> = (0..50).map(|number| format!("x-exact-{number}")).collect();
    let mut names: Vec<&str> = exact.iter().map(String::as_str).collect();
    names.extend(["x-hop", "x-kept"]);
    let mut rules = exact.clone();
    rules.push("connection".to_owned());
    assert_stripped(&rules, &with_connections(&["x-hop, x-exact-7"], &names));
}

#[test]
fn repeated_nominations_of_repeated_fields_read_each_value_once() {
    struct Counted<'a>(&'static str, &'a Cell<usize>);
    impl AsRef<[u8]> for Counted<'_> {
        fn as_ref(&self) -> &[u8] {
            self.1.set(self.1.get() + 1);
            self.0.as_bytes()
        }
    }
    let reads = Cell::new(0);
    let mut map = HeaderMap::<Counted<'_>>::default();
    for _ in 0..100 {
        map.append("connection", Counted("x-hop, x-hop, te, te", &reads));
        map.append("x-hop", Counted("1", &reads));
        map.append("te", Counted("trailers", &reads));
    }
    assert_eq!(set_of(["connection"]).strip(&mut map), Ok(2));
    assert_eq!(map.keys().collect::<Vec<_>>(), ["te"]);
    assert_eq!(reads.get(), 300);
}

#[test]
fn an_empty_map_stays_empty() {
    assert_stripped(&["connection", "x-*"], &Vec::new());
}

#[test]
fn every_spelling_of_any_number_of_names_is_removed() {
    // The last differs from the first in a byte that no comparison by words reads.
    let spellings = |number: usize| {
        [
            "x-internal-user-of-an-account",
            "x_internal_user_of_an_account",
            "x-internal.user-of-an-account",
            "x-internal-user-of_an-account",
        ]
        .map(|name| format!("{name}{number}"))
    };
    let others =
        ["user_agent", "user-agent", "user.agent", "accept", "x-internal-user-ofxan-account0"];
    for count in [1, 2, 7, 8, 20] {
        let rules: Vec<String> = (0..count).map(|number| spellings(number)[0].clone()).collect();
        let rules = [rules, vec!["user-agent".to_owned()]].concat();
        let names: Vec<String> = (0..count).flat_map(spellings).collect();
        let names = names.iter().map(String::as_str).chain(others);
        let mut fields = numbered(names);
        assert_stripped(&rules, &fields);
        fields.reverse();
        assert_stripped(&rules, &fields);
        fields.truncate(4);
        assert_stripped(&rules, &fields);
    }
}
