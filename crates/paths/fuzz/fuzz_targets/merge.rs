//! Any files that parse merge to a file that has the bits of all of them, or are refused; any buffer of
//! netstrings adds its keys or nothing.
#![no_main]

use arbitrary::Arbitrary;
use hedgerow_paths::{PathFilter, PathFilterBuilder, PathFilterMerger, Sizing};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    files: Vec<File<'a>>,
    keys: Vec<&'a [u8]>,
    netstrings: &'a [u8],
}

#[derive(Arbitrary, Debug)]
enum File<'a> {
    /// These bytes, unchanged.
    Bytes(&'a [u8]),
    /// A first line with these values, and a second line of these characters.
    Forged { n: u64, p: &'a str, m: u8, k: u8, s: u8, body: &'a str },
    /// A filter of these keys, 1,000 bits each.
    Built(Vec<&'a [u8]>),
}

impl File<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Forged { n, p, m, k, s, body } => {
                let bloom = format!("\"n\":{n},\"p\":{p},\"m\":{m},\"k\":{k},\"s\":{s}");
                format!("{{\"version\":\"\",\"bloom\":{{{bloom}}}}}\n\"{body}\"").into_bytes()
            }
            Self::Built(keys) => {
                PathFilterBuilder::new().sizing(Sizing::Bits(1_000)).build(keys).unwrap()
            }
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    let Input { files, keys, netstrings } = input;
    let files: Vec<_> = files.iter().map(File::bytes).collect();
    merge(&files, &keys);

    let mut collector = PathFilterBuilder::new().sizing(Sizing::Bits(1_000)).collect().unwrap();
    let added = collector.insert_netstrings(netstrings);
    assert!(added.is_err_and(|error| error.offset < netstrings.len()) || added.is_ok());
    assert!(collector.build().unwrap().n() <= added.unwrap_or(0));
});

fn merge(files: &[Vec<u8>], keys: &[&[u8]]) {
    let filters: Vec<_> = files.iter().filter_map(|file| PathFilter::parse(file).ok()).collect();
    let Some((first, rest)) = filters.split_first() else { return };
    let (mut merger, mut merged) = (PathFilterMerger::new(first).unwrap(), vec![first]);
    for filter in rest {
        if merger.add(filter).is_ok() {
            merged.push(filter);
        }
    }
    let Ok(file) = merger.file("") else { return };
    let filter = PathFilter::parse(&file).expect("a merged file");
    for key in keys.iter().filter(|key| merged.iter().any(|one| one.has(key))) {
        assert!(filter.has(key));
    }
    assert!(merged.iter().all(|one| one.bits_set() <= filter.bits_set()));
    assert_eq!(filter.params().n, merged.iter().map(|one| one.params().n).sum::<u64>());
    assert_eq!(Some(filter.wildcards()), merged.iter().map(|one| one.wildcards()).max());
}
