use hedgerow_example_wasmtime_host::PathFilter as Filter;
use hedgerow_paths::PathFilter;

use crate::support::{
    edge::paths,
    files::{ALL, PATHMAP, REDIRECTS, ROUTING},
};

#[test]
fn published_files_have_the_published_keys() {
    let edge = paths();
    let vectors: [(&str, &[&str], &[&str]); 3] = [
        // (a file, keys that are present, keys that are absent)
        (PATHMAP, &["/foo", "/foo/bar", "/foo/baz/", "/apple/pie"], &["/foo/baz", "/", ""]),
        (REDIRECTS, &["/old-path", "/another-old-path"], &["/"]),
        (ROUTING, &[""], &["/", "/index"]),
    ];
    for is_trusted in [false, true] {
        // All filters are loaded before the first query.
        let filters = vectors.map(|(file, ..)| Filter::parse(&edge, file.as_bytes(), is_trusted));
        for (filter, (file, present, absent)) in filters.iter().zip(vectors) {
            let filter = filter.as_ref().unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(present.iter().all(|path| filter.has(path.as_bytes()).unwrap()), "{file}");
            assert!(!absent.iter().any(|path| filter.has(path.as_bytes()).unwrap()), "{file}");
        }
    }
}

#[test]
fn headers_and_wildcards_are_the_same_as_natively() {
    let edge = paths();
    let deep = PATHMAP.replacen("}}", "},\"wildcards\":3}", 1);
    for file in
        ALL.into_iter().chain([&*deep]).flat_map(|file| [file.into(), file.replace('\n', "\r\n")])
    {
        let filter = Filter::parse(&edge, file.as_bytes(), false).unwrap();
        let native = PathFilter::parse(file.as_bytes()).unwrap();
        assert_eq!(filter.header(), native.header(), "{file}");
        assert_eq!(filter.wildcards(), native.wildcards(), "{file}");
    }
}
