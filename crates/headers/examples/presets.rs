//! Prints the presets as one JSON object. Each member is a list with the rules for requests,
//! followed by the rules for responses if they differ.

use hedgerow_headers::presets;

fn main() {
    // Names and rules are tokens, for which `Debug` writes valid JSON.
    let members = presets::ALL.map(|(name, requests, responses)| {
        let lists = if requests == responses { vec![requests] } else { vec![requests, responses] };
        format!("{name:?}:{lists:?}")
    });
    println!("{{{}}}", members.join(","));
}
