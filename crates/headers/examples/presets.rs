//! Prints the presets as one JSON object: the name of each, and its rules.

use hedgerow_headers::presets;

fn main() {
    // Names and rules are tokens, which `Debug` writes as JSON does.
    let members = presets::ALL.map(|(name, rules)| format!("{name:?}:{rules:?}"));
    println!("{{{}}}", members.join(","));
}
