//! Prints the fields that no sender may nominate as a JSON string.

fn main() {
    println!("{:?}", hedgerow_headers::END_TO_END);
}
