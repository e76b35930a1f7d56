//! Prints the fields that no sender may nominate, and those that an allow-list always keeps, as one
//! JSON object.

use hedgerow_headers::{END_TO_END, ESSENTIAL};

fn main() {
    // Names are tokens, for which `Debug` writes valid JSON.
    let end_to_end: Vec<&str> = END_TO_END.split(',').collect();
    println!("{{\"END_TO_END\":{end_to_end:?},\"ESSENTIAL\":{ESSENTIAL:?}}}");
}
