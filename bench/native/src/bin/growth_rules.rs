//! Prints the rules that growing sets have, and how many each set has of them, as JSON, so that
//! JavaScript is measured with the same.

use hedgerow_bench::headers::workload::{GROWTH, many_rules};

fn main() {
    let most = GROWTH.into_iter().max().expect("a number of rules");
    println!(r#"{{"counts": {GROWTH:?}, "rules": {:?}}}"#, many_rules(most));
}
