//! Prints the rules and the sizes of growing sets as JSON, so that JavaScript is measured with the
//! same ones.

use hedgerow_bench::headers::workload::{GROWTH, many_rules};

fn main() {
    let max = GROWTH.into_iter().max().expect("a number of rules");
    println!(r#"{{"counts": {GROWTH:?}, "rules": {:?}}}"#, many_rules(max));
}
