//! The first line, compared with a general JSON parser.

use hedgerow_paths::PathFilter;
use proptest::{collection::vec, prelude::*};
use serde_json::Value;

/// Lines that are a header, nearly a header, or other JSON, with white space between tokens.
fn line() -> impl Strategy<Value = String> {
    let integer = prop_oneof![
        Just("1".to_owned()),
        Just("0".to_owned()),
        (0..300_u32).prop_map(|integer| integer.to_string()),
        number(),
    ];
    let space = prop_oneof![9 => Just(""), 1 => Just(" "), 1 => Just("\t\r ")];
    let bloom = vec(integer, 5).prop_flat_map(|values| {
        let names = ["n", "p", "m", "k", "s"];
        let members = names.iter().zip(values).map(|(name, value)| match *name {
            "p" => "\"p\":0.01".to_owned(),
            _ => format!("\"{name}\":{value}"),
        });
        Just(members.collect::<Vec<_>>()).prop_shuffle()
    });
    (bloom, text(), value(), space).prop_map(|(bloom, version, other, space)| {
        let bloom = bloom.join(&format!("{space},"));
        format!(
            "{space}{{\"o\"{space}:{other},\"version\":{version},\"bloom\":{{{bloom}}}{space}}}"
        )
    })
}

fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,16})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?|0[0-9]|\\.5|1\\.|-"
}

fn text() -> impl Strategy<Value = String> {
    "\"([ -!#-\\[\\]-~é😀]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4}){0,6}\"|\"\\\\x\"|\"\\\\u12\"|\"\t\""
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("nul".to_owned()),
        number(),
        text(),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let members = (text(), inner.clone()).prop_map(|(name, value)| format!("{name}:{value}"));
        prop_oneof![
            vec(inner, 0..3).prop_map(|values| format!("[{}]", values.join(","))),
            vec(members, 0..3).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn accepted_lines_are_json_with_the_same_values(line in line()) {
        let m = serde_json::from_str::<Value>(&line)
            .ok()
            .and_then(|line| line["bloom"]["m"].as_u64())
            .filter(|&m| m <= 10_000)
            .unwrap_or(1);
        let file = format!("{line}\n\"{}\"", "A".repeat(m.div_ceil(6) as usize));
        let general = serde_json::from_str::<Value>(&line);
        let Ok(filter) = PathFilter::parse(file.as_bytes()) else {
            let is_valid = general.is_ok_and(|header| {
                let bloom = &header["bloom"];
                let is_in = |name: &str, from: u64, to: u64| {
                    bloom[name].as_u64().is_some_and(|number| (from..=to).contains(&number))
                };
                let integers = is_in("n", 0, (1 << 53) - 1) && is_in("s", 0, (1 << 53) - 1);
                integers && is_in("m", 1, 10_000) && is_in("k", 1, 64)
            });
            // The general parser unescapes names, and refuses half a surrogate pair.
            prop_assert!(!is_valid || line.contains("\\u"), "{line}");
            return Ok(());
        };
        let params = filter.params();
        // RFC 8259 and JavaScript accept half a surrogate pair; the general parser does not.
        let Ok(general) = general else {
            prop_assert!(line.to_lowercase().contains("\\ud"), "{line}");
            return Ok(());
        };
        prop_assert_eq!(general["version"].as_str(), Some(&*filter.version()));
        prop_assert_eq!(general["bloom"]["n"].as_u64(), Some(params.n));
        prop_assert_eq!(general["bloom"]["m"].as_u64(), Some(u64::from(params.m)));
        prop_assert_eq!(general["bloom"]["k"].as_u64(), Some(u64::from(params.k)));
        prop_assert_eq!(general["bloom"]["s"].as_u64(), Some(params.s));
        prop_assert_eq!(general["bloom"]["p"].as_f64(), Some(params.p));
    }
}
