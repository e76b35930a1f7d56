use hedgerow_paths::{
    BuildError, Kind, MAX_INTEGER, MergeError, PathFilter, PathFilterBuilder, PathFilterMerger,
    Sizing,
};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::support::{
    generate::{builder, key},
    oracle,
};

/// Merges files in order.
fn merge(files: &[Vec<u8>]) -> Result<PathFilterMerger, MergeError> {
    let (first, rest) = files.split_first().expect("a file");
    let mut merger = PathFilterMerger::new(&PathFilter::parse(first).unwrap())?;
    for file in rest {
        merger.add(&PathFilter::parse(file).unwrap())?;
    }
    Ok(merger)
}

fn merged(files: &[Vec<u8>]) -> Vec<u8> {
    merge(files).unwrap().file("merged").unwrap()
}

/// Returns the number of keys in a file.
fn keys_of(file: &[u8]) -> u64 {
    PathFilter::parse(file).unwrap().params().n
}

/// Distinct keys, and a partition of them into up to five parts, some of which may be empty.
fn partition() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<Vec<Vec<u8>>>)> {
    (vec((key(), any::<Index>()), 0..60), 1..6_usize).prop_map(|(keys, count)| {
        let mut parts = vec![Vec::new(); count];
        let mut all: Vec<Vec<u8>> = Vec::new();
        for (key, part) in keys {
            if !all.contains(&key) {
                all.push(key.clone());
                parts[part.index(count)].push(key);
            }
        }
        (all, parts)
    })
}

fn built(builder: &PathFilterBuilder, parts: &[Vec<Vec<u8>>]) -> Vec<Vec<u8>> {
    parts.iter().map(|keys| builder.build(keys).unwrap()).collect()
}

/// A file whose first line has these members.
fn file(members: &str) -> Vec<u8> {
    format!("{{\"version\":\"\",\"bloom\":{{{members}}}}}\n\"AAAA\"").into_bytes()
}

#[test]
fn a_merged_filter_has_the_depth_of_the_deepest_wildcard() {
    let builder = PathFilterBuilder::new().sizing(Sizing::Bits(24));
    let (deep, shallow) = (builder.build(["/a/b/*"]).unwrap(), builder.build(["/*"]).unwrap());
    for files in [[deep.clone(), shallow.clone()], [shallow, deep]] {
        assert_eq!(PathFilter::parse(&merged(&files)).unwrap().wildcards(), 3);
    }
}

proptest! {
    #[test]
    fn the_parts_of_a_partition_merge_to_the_file_that_one_build_makes(
        builder in builder(),
        (all, parts) in partition(),
        spare in 0..50_u64,
    ) {
        let builder = builder.version("merged").capacity(all.len() as u64 + spare);
        prop_assert_eq!(merged(&built(&builder, &parts)), builder.build(&all).unwrap());
    }

    #[test]
    fn a_merged_filter_has_every_key_of_all_filters(
        builder in builder(),
        parts in vec(vec(key(), 0..20), 1..5),
    ) {
        let builder = builder.capacity(20);
        let file = merged(&built(&builder, &parts));
        let (filter, oracle) = (PathFilter::parse(&file).unwrap(), oracle::Filter::read(&file));
        prop_assert!(parts.iter().flatten().all(|key| filter.has(key) && oracle.has(key)));
        let wildcards = parts.iter().map(|keys| {
            PathFilter::parse(&builder.build(keys).unwrap()).unwrap().wildcards()
        });
        prop_assert_eq!(filter.wildcards(), wildcards.max().unwrap());
    }

    #[test]
    fn merging_is_commutative_and_associative(
        builder in builder(),
        parts in vec(vec(key(), 0..20), 3..6),
        order in any::<Index>(),
    ) {
        let mut files = built(&builder.capacity(20), &parts);
        let all = merged(&files);
        let middle = 1 + order.index(files.len() - 1);
        let halves = [merged(&files[..middle]), merged(&files[middle..])];
        prop_assert_eq!(&merged(&halves), &all);
        files.rotate_left(middle);
        prop_assert_eq!(&merged(&files), &all);
        files.reverse();
        prop_assert_eq!(&merged(&files), &all);
    }

    #[test]
    fn merging_a_filter_with_itself_changes_no_bit(
        builder in builder(),
        keys in vec(key(), 0..40),
    ) {
        let file = builder.build(&keys).unwrap();
        let twice = merge(&[file.clone(), file.clone()]).unwrap();
        let line_2 = format!("\n\"{}\"", twice.body());
        prop_assert!(file.ends_with(line_2.as_bytes()));
        prop_assert_eq!(keys_of(&twice.file("").unwrap()), 2 * keys_of(&file));
    }

    #[test]
    fn a_body_without_its_last_characters_or_with_bits_beyond_m_merges_to_a_whole_one(
        m in 1..200_u32,
        body in "[A-Za-z0-9+/]{36}",
        padding in "={0,2}",
    ) {
        let body = &body[..m.div_ceil(6) as usize];
        let line_1 = format!("{{\"version\":\"\",\"bloom\":{{\"n\":1,\"p\":0.5,\"m\":{m},\"k\":1,\"s\":0}}}}");
        let whole = body.len() + padding.len() > (m.div_ceil(24) * 4) as usize;
        let padding = if whole { "" } else { &*padding };
        let file = format!("{line_1}\n\"{body}{padding}\"").into_bytes();
        let filter = PathFilter::parse(&file).unwrap();
        let merged = merged(std::slice::from_ref(&file));
        let read = oracle::Filter::read(&merged);
        prop_assert_eq!(read.bits_set(), filter.bits_set());
        prop_assert_eq!(read.set_beyond_m(), 0);
        let characters = merged.len() - merged.iter().position(|&byte| byte == b'\n').unwrap() - 3;
        prop_assert_eq!(characters, (m.div_ceil(8).div_ceil(3) * 4) as usize);
    }
}

#[test]
fn a_filter_built_for_a_capacity_has_the_size_for_it_and_its_own_number_of_keys() {
    let builder = PathFilterBuilder::new().capacity(1_000);
    let filter = builder.build(["/a", "/b", "/a"]).unwrap();
    let params = PathFilter::parse(&filter).unwrap().params();
    assert_eq!((params.n, params.m), (2, Sizing::Promised.bits(1_000, 1e-7).unwrap()));
    assert_eq!(builder.build_counted(2, ["/a", "/b", "/a"]), Ok(filter));
}

#[test]
fn more_keys_than_the_capacity_are_refused_and_duplicates_do_not_count() {
    let builder = PathFilterBuilder::new().capacity(2);
    assert!(builder.build(["/a", "/b", "/a", "/b"]).is_ok());
    assert!(builder.build([""; 0]).is_ok());
    let too_many = BuildError::TooManyKeys { expected: 2 };
    assert_eq!(builder.build(["/a", "/b", "/c"]), Err(too_many));
    assert_eq!(builder.build_counted(3, ["/a"]), Err(too_many));
    let error = PathFilterBuilder::new().capacity(0).build(["/a"]).unwrap_err();
    assert_eq!(error, BuildError::TooManyKeys { expected: 0 });
    for keys in [200_000_000, u64::MAX] {
        let error = PathFilterBuilder::new().capacity(keys).build(["/a"]).unwrap_err();
        assert_eq!(error, BuildError::Bits { keys });
    }
}

#[test]
fn filters_with_different_parameters_are_refused_by_the_name_of_the_parameter() {
    let first = file("\"n\":1,\"p\":0.5,\"m\":24,\"k\":1,\"s\":0");
    for (other, name, expected, found) in [
        ("\"n\":1,\"p\":0.5,\"m\":23,\"k\":1,\"s\":0", "m", 24, 23),
        ("\"n\":1,\"p\":0.5,\"m\":24,\"k\":2,\"s\":0", "k", 1, 2),
        ("\"n\":1,\"p\":0.5,\"m\":24,\"k\":1,\"s\":9007199254740991", "s", 0, MAX_INTEGER),
    ] {
        let error = merge(&[first.clone(), file(other)]).err().unwrap();
        assert_eq!(error, MergeError::Parameter { name, expected, found });
        let text = format!("expected a filter with {name} = {expected}, found {name} = {found}");
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_refused_filter_leaves_the_others_unchanged() {
    let part = PathFilterBuilder::new().sizing(Sizing::Bits(24)).build(["/a"]).unwrap();
    let other = PathFilterBuilder::new().sizing(Sizing::Bits(24)).seed(1).build(["/b/*"]).unwrap();
    let mut merger = PathFilterMerger::new(&PathFilter::parse(&part).unwrap()).unwrap();
    assert!(merger.add(&PathFilter::parse(&other).unwrap()).is_err());
    assert_eq!(merger.file("").unwrap(), part);
}

#[test]
fn a_sum_of_keys_beyond_the_limit_is_refused() {
    let with = |n: u64| file(&format!("\"n\":{n},\"p\":0.5,\"m\":24,\"k\":1,\"s\":0"));
    assert_eq!(keys_of(&merged(&[with(MAX_INTEGER - 1), with(1)])), MAX_INTEGER);
    let error = merge(&[with(MAX_INTEGER), with(1)]).err().unwrap();
    assert_eq!(error, MergeError::Keys { found: MAX_INTEGER + 1 });
    assert!(error.to_string().ends_with("found 9007199254740992"));
}

#[test]
fn the_requested_rate_is_the_greatest_and_one_that_no_builder_accepts_is_refused() {
    let with = |p: &str| file(&format!("\"n\":1,\"p\":{p},\"m\":24,\"k\":1,\"s\":0"));
    let merged = merged(&[with("0.25"), with("5e-1"), with("1e-7")]);
    assert_eq!(PathFilter::parse(&merged).unwrap().params().p, 0.5);
    for (p, found) in [("0", 0.0), ("0.6", 0.6), ("1e999", f64::INFINITY), ("1e-19", 1e-19)] {
        let error = merge(&[with(p), with(p)]).unwrap().file("").unwrap_err();
        assert_eq!(error, BuildError::Rate { found });
    }
}

#[test]
fn members_that_the_format_does_not_define_are_dropped() {
    let line_1 = "{\"version\":\"a\",\"x\":[1],\"bloom\":{\"n\":1,\"p\":0.5,\"m\":24,\"k\":1,\"s\":0,\"y\":2}}";
    let merged = merged(&[format!("{line_1}\n\"AAAA\"").into_bytes()]);
    let expected =
        "{\"version\":\"merged\",\"bloom\":{\"n\":1,\"p\":0.5,\"m\":24,\"k\":1,\"s\":0}}\n\"AAAA\"";
    assert_eq!(String::from_utf8(merged).unwrap(), expected);
}

#[test]
fn fuse_filters_are_not_merged() {
    let bloom = PathFilterBuilder::new().build(["/a"]).unwrap();
    let fuse = PathFilterBuilder::new().kind(Kind::Fuse).build(["/a"]).unwrap();
    for files in [[fuse.clone(), bloom.clone()], [bloom, fuse]] {
        let error = merge(&files).err().unwrap();
        assert_eq!(error, MergeError::Kind);
        let expected = "expected a Bloom filter, found a filter of another kind";
        assert_eq!(error.to_string(), expected);
    }
}
