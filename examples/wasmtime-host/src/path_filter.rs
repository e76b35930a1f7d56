//! Path filters.

use std::thread;

use serde_json::Value;
use wasmtime::{Result, ensure, format_err};

use crate::EdgeModule;

/// The maximum length of the first line of a filter, with a line end of two bytes.
const MAX_LINE_LENGTH: usize = (1 << 16) + 2;

/// A path filter in the memory of a module.
pub struct PathFilter<'m> {
    edge: &'m EdgeModule,
    this: u32,
    header: Vec<u8>,
    wildcards: u32,
}

impl<'m> PathFilter<'m> {
    /// Loads a filter from an untrusted file: reads the first line, and copies the characters of the
    /// second line to the module. If `is_trusted`, they are not checked.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a path filter.
    pub fn parse(edge: &'m EdgeModule, file: &[u8], is_trusted: bool) -> Result<Self> {
        let line = file.iter().take(MAX_LINE_LENGTH).position(|&byte| byte == b'\n');
        let line = line.ok_or_else(|| format_err!("expected a first line, found none"))?;
        let header: Value = serde_json::from_slice(&file[..line])?;
        let numbers = Numbers::of(&header)?;
        let body = body(&file[line + 1..], &numbers)?;

        let this = edge.call("filter_new", ())?;
        let wildcards = header["wildcards"].as_u64().unwrap_or(0) as u32;
        let filter = Self { edge, this, header: file[..line].to_vec(), wildcards };
        let length = u32::try_from(body.len())?;
        edge.write(edge.call("filter_reserve", (this, length))?, body)?;
        if !is_trusted {
            let illegal: i32 = edge.call("filter_first_illegal", (this, length))?;
            ensure!(illegal < 0, "expected Base64 at character {illegal} of the second line");
        }
        let Numbers { is_fuse, m, l, q, s } = numbers;
        let arguments = (this, length, u32::from(is_fuse), m, l, q as f64, s as f64);
        let is_open: u32 = edge.call("filter_open", arguments)?;
        ensure!(is_open != 0, "expected parameters within their limits in the first line");
        Ok(filter)
    }

    /// Returns whether the filter may have `path`. `false` is certain.
    ///
    /// # Errors
    ///
    /// Returns an error if the module has no memory for the path.
    pub fn has(&self, path: &[u8]) -> Result<bool> {
        let length = u32::try_from(path.len())?;
        self.edge.write(self.edge.call("filter_reserve_key", (self.this, length))?, path)?;
        let has: u32 = self.edge.call("filter_has", (self.this, length))?;
        Ok(has != 0)
    }

    /// Returns the first line.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Returns the depth of the deepest wildcard key, or 0 if there is none.
    pub fn wildcards(&self) -> u32 {
        self.wildcards
    }
}

impl Drop for PathFilter<'_> {
    fn drop(&mut self) {
        let freed = self.edge.call::<_, ()>("__wbg_filter_free", (self.this, 0));
        debug_assert!(freed.is_ok() || thread::panicking(), "{freed:?}");
    }
}

/// The numbers of the first line that queries need. A Bloom filter has `k` as `l`, and no `q`.
struct Numbers {
    is_fuse: bool,
    m: u32,
    l: u32,
    q: u64,
    s: u64,
}

impl Numbers {
    fn of(header: &Value) -> Result<Self> {
        let (bloom, fuse) = (&header["bloom"], &header["fuse"]);
        let is_fuse = fuse.is_object();
        ensure!(is_fuse != bloom.is_object(), "expected either bloom or fuse in the first line");
        let number = |name: &str, max: u64| {
            let number = if is_fuse { &fuse[name] } else { &bloom[name] }.as_u64();
            let number = number.filter(|&number| number <= max);
            number.ok_or_else(|| format_err!("expected {name} to be an integer of at most {max}"))
        };
        let exact = (1 << 53) - 1;
        Ok(Self {
            is_fuse,
            m: number("m", u32::MAX.into())? as u32,
            l: number(if is_fuse { "l" } else { "k" }, 1 << 16)? as u32,
            q: if is_fuse { number("q", exact)? } else { 0 },
            s: number("s", exact)?,
        })
    }
}

/// Returns the characters of the second line, of which there must be as many as the first line says.
fn body<'f>(line: &'f [u8], numbers: &Numbers) -> Result<&'f [u8]> {
    let m = u64::from(numbers.m);
    let (min, max) =
        if numbers.is_fuse { (4 * m, 4 * m) } else { (m.div_ceil(6), m.div_ceil(24) * 4) };
    let line =
        line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
    let quoted = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\""));
    let padded = quoted.ok_or_else(|| format_err!("expected quotes around the second line"))?;
    let body = padded.strip_suffix(b"=").unwrap_or(padded);
    let body = body.strip_suffix(b"=").unwrap_or(body);
    let is_whole = body.len() as u64 >= min && padded.len() as u64 <= max;
    ensure!(is_whole, "expected {min} to {max} characters of Base64, found {}", padded.len());
    Ok(body)
}
