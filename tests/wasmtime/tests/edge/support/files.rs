//! Filter files, the same as in `tests/cases/paths/files.ts`.

/// PathMap: `/foo`, `/foo/bar`, `/foo/baz/` and `/apple/pie`.
pub const PATHMAP: &str = r#"{"version":"test","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}
"/qqpVeKKgABfaKAFV6qqii/A""#;

/// Bulk redirects: `/old-path` and `/another-old-path`.
pub const REDIRECTS: &str = r#"{"version":"bulk-redirects","bloom":{"n":3,"p":1e-7,"m":102,"k":23,"s":0}}
"Mec7FxGVcJ0fHdj8HA==""#;

/// Routing: the empty path, but neither `/` nor `/index`.
pub const ROUTING: &str = r#"{"version":"test","bloom":{"n":10,"p":1e-7,"m":336,"k":23,"s":0}}
"0kxC4anU4awVOYSs54vsAL7gBNGK/PrLjKrAJRil64mMxmiig1S+jqyC""#;

/// A fuse filter of the paths in [`PATHMAP`].
pub const FUSE: &str = r#"{"version":"test","fuse":{"n":4,"m":20,"l":4,"q":6019636495693593,"s":0}}
"XV0YE52pEEf5AAAAAAAAAAAAGMH1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#;

pub const ALL: [&str; 4] = [PATHMAP, REDIRECTS, ROUTING, FUSE];

/// An unpublished filter whose first line uses every feature of JSON.
pub const RICH: &str = concat!(
    r#"{ "a":[{},[ ],[-0.5e-3,1E+2,0,true,false , null]] ,"b":{"c":{"d":"é😀"}},"#,
    r#""version" : "\u00e9\uD83D\udE00\"\\\/\b\f\n\r\t","bloom":{"s":9007199254740991,"x":"","#,
    r#""m":7,"k":2,"p":0.25,"n":1},"wildcards":3}"#,
    "\n\"gA==\"",
);
