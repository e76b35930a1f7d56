use hedgerow_paths::{PathFilterBuilder, Sizing};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::support::generate::key;

fn builder() -> PathFilterBuilder {
    PathFilterBuilder::new().sizing(Sizing::Bits(10_007))
}

fn netstrings(keys: &[Vec<u8>]) -> Vec<u8> {
    let one = |key: &Vec<u8>| [format!("{}:", key.len()).as_bytes(), key, b","].concat();
    keys.iter().flat_map(one).collect()
}

/// Buffers without a netstring at their beginning.
const OTHERS: [&str; 13] = [
    "x",
    "1",
    "1:",
    "1:a",
    "1:a;",
    ":,",
    "01:a,",
    "00:,",
    "-1:a,",
    "2:a,",
    " 1:a,",
    "18446744073709551616:a,",
    "18446744073709551615:a,",
];

proptest! {
    #[test]
    fn the_keys_of_netstrings_are_added_as_if_one_by_one(keys in vec(key(), 0..40)) {
        let mut collector = builder().collect().unwrap();
        prop_assert_eq!(collector.insert_netstrings(&netstrings(&keys)), Ok(keys.len() as u64));
        let file = collector.build().unwrap().file("").unwrap();
        prop_assert_eq!(file, builder().build(&keys).unwrap());
    }

    #[test]
    fn a_buffer_with_anything_else_adds_no_key(
        keys in vec(key(), 0..5),
        rest in select(&OTHERS[..]),
    ) {
        let whole = netstrings(&keys);
        let mut collector = builder().collect().unwrap();
        let error = collector.insert_netstrings(&[&*whole, rest.as_bytes()].concat()).unwrap_err();
        prop_assert_eq!(error.offset, whole.len());
        prop_assert_eq!(error.to_string(), format!("expected a netstring at byte {}", error.offset));
        prop_assert_eq!(collector.build().unwrap().n(), 0);
    }

    #[test]
    fn no_buffer_causes_a_panic(buffer in "[0-9:,a]{0,30}") {
        let mut collector = builder().collect().unwrap();
        let added = collector.insert_netstrings(buffer.as_bytes());
        prop_assert_eq!(added.is_err(), added.is_err_and(|error| error.offset < buffer.len()));
    }
}
