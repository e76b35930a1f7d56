//! A proxy in Rust that embeds the modules of `hedgerow`: it rejects paths that cannot exist, and strips
//! internal fields from the other requests.

use std::{env, fs};

use hedgerow_example_wasmtime_host::{BlockStripper, EdgeModule, PathFilter};
use wasmtime::{Result, format_err};

const BUILT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../js/edge/wasm");

const RULES: &[&str] = &["x-internal-*", "x-debug"];

/// The filter of a deployment with `/foo`, `/foo/bar`, `/foo/baz/` and `/apple/pie`.
const PATHS: &str = r#"{"version":"test","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}
"/qqpVeKKgABfaKAFV6qqii/A""#;

const FIELDS: &str = "Host: a.example\r\nX-Internal-User: 7\r\nX-Debug: 1\r\nAccept: */*\r\n\r\n";

fn main() -> Result<()> {
    let modules = Modules::read(&env::args().nth(1).unwrap_or(BUILT.to_owned()))?;
    let proxy = Proxy::new(&modules, RULES, PATHS.as_bytes())?;
    for path in ["/foo/bar", "/wp-login.php"] {
        println!("{}", proxy.answer(path, FIELDS)?);
    }
    Ok(())
}

/// The modules that the proxy uses.
struct Modules {
    paths: EdgeModule,
    block: EdgeModule,
}

impl Modules {
    /// Instantiates the modules in a folder.
    fn read(folder: &str) -> Result<Self> {
        let module = |name: &str| {
            let path = format!("{folder}/{name}_bg.wasm");
            let wasm = fs::read(&path).map_err(|error| {
                format_err!("cannot read {path}: {error}; run `npm run build` first")
            })?;
            EdgeModule::new(&wasm)
        };
        Ok(Self { paths: module("paths")?, block: module("block")? })
    }
}

/// The rules and the filter of a deployment.
struct Proxy<'m> {
    blocks: BlockStripper<'m>,
    paths: PathFilter<'m>,
}

impl<'m> Proxy<'m> {
    fn new(modules: &'m Modules, rules: &[&str], file: &[u8]) -> Result<Self> {
        let blocks = BlockStripper::new(&modules.block, rules, false)?;
        let paths = PathFilter::parse(&modules.paths, file, false)
            .map_err(|error| format_err!("path filter: {error}"))?;
        Ok(Self { blocks, paths })
    }

    /// Returns the request that goes to the origin, or the response that goes back to the client.
    fn answer(&self, path: &str, fields: &str) -> Result<String> {
        if !self.paths.has(path.as_bytes())? {
            return Ok(format!("{path}: 404 Not Found\n"));
        }
        let mut block = fields.as_bytes().to_vec();
        self.blocks.strip(&mut block).map_err(|error| format_err!("field block: {error}"))?;
        Ok(format!("GET {path} HTTP/1.1\n{}", String::from_utf8_lossy(&block).replace('\r', "")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error of a proxy with these rules and this filter.
    fn error(rules: &[&str], file: &[u8]) -> String {
        let modules = Modules::read(BUILT).unwrap();
        Proxy::new(&modules, rules, file).err().unwrap().to_string()
    }

    #[test]
    fn requests_for_existing_paths_are_forwarded_without_internal_fields() {
        let modules = Modules::read(BUILT).unwrap();
        let proxy = Proxy::new(&modules, RULES, PATHS.as_bytes()).unwrap();
        let forwarded = "GET /foo/bar HTTP/1.1\nHost: a.example\nAccept: */*\n\n";
        assert_eq!(proxy.answer("/foo/bar", FIELDS).unwrap(), forwarded);
        let rejected = "/wp-login.php: 404 Not Found\n";
        assert_eq!(proxy.answer("/wp-login.php", FIELDS).unwrap(), rejected);
    }

    #[test]
    fn malformed_input_is_rejected_with_the_reason() {
        let modules = Modules::read(BUILT).unwrap();
        let proxy = Proxy::new(&modules, RULES, PATHS.as_bytes()).unwrap();
        let block = proxy.answer("/foo", "Host : a.example\r\n").unwrap_err().to_string();
        let expected = "expected a colon after the field name, found white space at byte 4";
        assert_eq!(block, format!("field block: {expected}"));
        let rule = error(&["x-*-id"], PATHS.as_bytes());
        let expected = "expected '*' only as the last character, found one at byte 2";
        assert_eq!(rule, format!("rule 0: {expected}"));
        let file = error(RULES, b"[]\n");
        assert_eq!(file, "path filter: expected either bloom or fuse in the first line");
    }

    #[test]
    fn a_rule_that_is_too_long_is_rejected() {
        let long = "x".repeat(1_000);
        let expected = "expected at most 256 bytes, found more";
        assert_eq!(error(&[&long], PATHS.as_bytes()), format!("rule 0: {expected}"));
    }

    #[test]
    fn a_file_that_is_longer_than_its_first_line_allows_is_rejected() {
        let mut file = PATHS.as_bytes().to_vec();
        file.resize(1 << 24, 0);
        let expected = "expected quotes around the second line";
        assert_eq!(error(RULES, &file), format!("path filter: {expected}"));
        let expected = "expected a first line, found none";
        assert_eq!(error(RULES, &vec![0; 1 << 24]), format!("path filter: {expected}"));
    }
}
