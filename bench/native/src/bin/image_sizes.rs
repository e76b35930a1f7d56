//! Prints the sizes of the images of the growing sets, as a JSON array.

use hedgerow_workloads::headers::{GROWTH, many_rules, set_of};

fn main() {
    let sizes = GROWTH.map(|count| {
        let rules = many_rules(count);
        let image_bytes = set_of(rules.iter().map(String::as_str)).image().len();
        let text_bytes: usize = rules.iter().map(String::len).sum();
        format!(r#"{{"rules": {count}, "image_bytes": {image_bytes}, "text_bytes": {text_bytes}}}"#)
    });
    println!("[{}]", sizes.join(", "));
}
