use hedgerow_paths::PathFilter;
use hedgerow_tests_wasmtime::Filter;

use crate::support::{
    edge::edge,
    files::{ALL, PATHMAP, REDIRECTS, ROUTING},
};

#[test]
fn published_files_answer_as_published() {
    let edge = edge();
    let vectors: [(&str, &[&str], &[&str]); 3] = [
        // (a file, what it has, what it has not)
        (PATHMAP, &["/foo", "/foo/bar", "/foo/baz/", "/apple/pie"], &["/foo/baz", "/", ""]),
        (REDIRECTS, &["/old-path", "/another-old-path"], &["/"]),
        (ROUTING, &[""], &["/", "/index"]),
    ];
    for is_trusted in [false, true] {
        // All are there before the first one is asked.
        let filters = vectors.map(|(file, ..)| Filter::parse(&edge, file.as_bytes(), is_trusted));
        for (filter, (file, present, absent)) in filters.iter().zip(vectors) {
            let filter = filter.as_ref().unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(present.iter().all(|path| filter.has(path.as_bytes())), "{file}");
            assert!(!absent.iter().any(|path| filter.has(path.as_bytes())), "{file}");
        }
    }
}

#[test]
fn a_header_is_what_the_file_says() {
    let edge = edge();
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
