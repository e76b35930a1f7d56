//! Prints the rules of the growing sets, and the size of each set, as JSON, so that JavaScript is
//! measured with the same rules.

use hedgerow_workloads::headers::{GROWTH, many_rules};

fn main() {
    let max = GROWTH.into_iter().max().expect("a number of rules");
    println!(r#"{{"counts": {GROWTH:?}, "rules": {:?}}}"#, many_rules(max));
}
