//! Prints the rules of the growing sets, and the sizes of each set and of its image, as JSON, so that
//! JavaScript is measured with the same rules.

use hedgerow_workloads::headers::{GROWTH, many_rules, set_of};

fn main() {
    let rules = many_rules(GROWTH.into_iter().max().expect("a number of rules"));
    let sets = GROWTH.map(|count| {
        let image = set_of(rules[..count].iter().map(String::as_str)).image().len();
        format!(r#"{{"count": {count}, "image": {image}}}"#)
    });
    println!(r#"{{"sets": [{}], "rules": {rules:?}}}"#, sets.join(", "));
}
