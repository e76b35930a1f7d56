//! Files published by others.

use hedgerow_paths::{PathFilter, PathFilterBuilder, Sizing};

#[test]
fn the_pathmap_file_is_reproduced_to_the_byte() {
    let expected = r#"{"version":"test","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}
"/qqpVeKKgABfaKAFV6qqii/A""#;
    let builder = PathFilterBuilder::new().version("test").sizing(Sizing::Bits(138));
    let keys = ["/foo", "/foo/bar", "/foo/baz/", "/apple/pie"];
    assert_eq!(String::from_utf8(builder.build(keys).unwrap()).unwrap(), expected);
    assert_eq!(String::from_utf8(builder.build_counted(4, keys).unwrap()).unwrap(), expected);

    let filter = PathFilter::parse(expected.as_bytes()).unwrap();
    for key in keys {
        assert!(filter.has(key.as_bytes()), "{key}");
    }
    assert!(!filter.has(b"/foo/baz"));
}

#[test]
fn the_bulk_redirects_file_has_the_published_keys() {
    let file = br#"{"version":"bulk-redirects","bloom":{"n":3,"p":1e-7,"m":102,"k":23,"s":0}}
"Mec7FxGVcJ0fHdj8HA==""#;
    let filter = PathFilter::parse(file).unwrap();
    assert_eq!(filter.version(), "bulk-redirects");
    assert!(filter.has(b"/old-path"));
    assert!(filter.has(b"/another-old-path"));
    assert!(!filter.has(b"/new-path"));
}

#[test]
fn the_routing_file_has_the_published_keys() {
    let file = br#"{"version":"test","bloom":{"n":10,"p":1e-7,"m":336,"k":23,"s":0}}
"0kxC4anU4awVOYSs54vsAL7gBNGK/PrLjKrAJRil64mMxmiig1S+jqyC""#;
    let filter = PathFilter::parse(file).unwrap();
    assert!(filter.has(b""));
    assert!(!filter.has(b"/"));
    assert!(!filter.has(b"/index"));
}
