//! Prints the presets as one JSON object: the name of each, and its rules for
//! requests, followed by those for responses where they differ.

use hedgerow_headers::presets;

fn main() {
    // Names and rules are tokens, which `Debug` writes as JSON does.
    let members = presets::ALL.map(|(name, requests, responses)| {
        let lists = if requests == responses { vec![requests] } else { vec![requests, responses] };
        format!("{name:?}:{lists:?}")
    });
    println!("{{{}}}", members.join(","));
}
