//! A proxy that embeds `edge.wasm`: answers 404 for paths that do not exist, and strips internal
//! fields from other requests.

mod edge;

use std::{env, fs};

use edge::Edge;
use wasmtime::{Result, format_err};

const BUILT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../js/edge/wasm/edge_bg.wasm");

const RULES: &[&str] = &["x-internal-*", "x-debug"];

/// The filter of a deployment with `/foo`, `/foo/bar`, `/foo/baz/` and `/apple/pie`.
const PATHS: &str = r#"{"version":"test","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}
"/qqpVeKKgABfaKAFV6qqii/A""#;

const FIELDS: &str = "Host: a.example\r\nX-Internal-User: 7\r\nX-Debug: 1\r\nAccept: */*\r\n\r\n";

fn main() -> Result<()> {
    let wasm = env::args().nth(1).unwrap_or(BUILT.to_owned());
    let mut edge = proxy(&wasm)?;
    for path in ["/foo/bar", "/wp-login.php"] {
        println!("{}", answer(&mut edge, path, FIELDS)?);
    }
    Ok(())
}

fn proxy(wasm: &str) -> Result<Edge> {
    let wasm = fs::read(wasm).map_err(|error| format_err!("{wasm}: {error}: `npm run build`?"))?;
    Edge::new(&wasm, RULES, PATHS.as_bytes())
}

/// Returns the request for the origin, or the response for the client.
fn answer(edge: &mut Edge, path: &str, fields: &str) -> Result<String> {
    if !edge.has(path.as_bytes())? {
        return Ok(format!("{path}: 404 Not Found\n"));
    }
    let mut block = fields.as_bytes().to_vec();
    edge.strip_block(&mut block)?;
    Ok(format!("GET {path} HTTP/1.1\n{}", String::from_utf8_lossy(&block).replace('\r', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_existing_paths_without_internal_fields() {
        let mut edge = proxy(BUILT).unwrap();
        let forwarded = "GET /foo/bar HTTP/1.1\nHost: a.example\nAccept: */*\n\n";
        assert_eq!(answer(&mut edge, "/foo/bar", FIELDS).unwrap(), forwarded);
        let not_found = "/wp-login.php: 404 Not Found\n";
        assert_eq!(answer(&mut edge, "/wp-login.php", FIELDS).unwrap(), not_found);
    }

    #[test]
    fn reports_malformed_input() {
        let mut edge = proxy(BUILT).unwrap();
        let message = answer(&mut edge, "/foo", "Host : a.example\r\n").unwrap_err().to_string();
        assert_eq!(
            message,
            "field block: expected a colon after the field name, found white space"
        );
        let wasm = fs::read(BUILT).unwrap();
        let rule = Edge::new(&wasm, &["x-*-id"], PATHS.as_bytes()).err().unwrap().to_string();
        assert_eq!(rule, "x-*-id: expected '*' only as the last character, found one");
        let file = Edge::new(&wasm, RULES, b"[]\n").err().unwrap().to_string();
        assert_eq!(file, "path filter: expected { and a member at byte 0");
    }

    #[test]
    fn refuses_a_file_longer_than_its_first_line_allows() {
        let wasm = fs::read(BUILT).unwrap();
        let mut file = PATHS.as_bytes().to_vec();
        file.resize(1 << 24, 0);
        let message = Edge::new(&wasm, RULES, &file).err().unwrap().to_string();
        assert_eq!(message, "path filter: expected at most 93 bytes");
        let message = Edge::new(&wasm, RULES, &vec![0; 1 << 24]).err().unwrap().to_string();
        assert_eq!(message, "path filter: expected a first line");
    }
}
