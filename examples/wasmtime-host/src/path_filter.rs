//! Path filters.

use std::{error::Error, fmt, thread};

use wasmtime::{Result, ensure, format_err};

use crate::EdgeModule;

/// Sentinel of the module for "no value".
const NONE: f64 = -1.0;
/// The module returns a byte as this number minus the byte.
const BYTE: f64 = -2.0;
/// The maximum length of the first line of a filter, with a line end of two bytes.
const MAX_LINE_LENGTH: usize = (1 << 16) + 2;

/// The six numbers that `Filter::parse` in `crates/edge-wasm` returns.
type Numbers = [f64; 6];

/// A path filter in the memory of a module.
pub struct PathFilter<'m> {
    edge: &'m EdgeModule,
    this: u32,
    header: Vec<u8>,
    wildcards: u32,
}

impl<'m> PathFilter<'m> {
    /// Loads a filter from an untrusted file. Takes no more memory than its first line justifies.
    ///
    /// # Errors
    ///
    /// Returns a [`FilterError`] if the module rejects the file, and an error if the file is longer than
    /// its first line allows.
    pub fn load(edge: &'m EdgeModule, file: &[u8]) -> Result<Self> {
        let filter = Self::new(edge)?;
        let line = file.iter().take(MAX_LINE_LENGTH).position(|&byte| byte == b'\n');
        let line = line.ok_or_else(|| format_err!("expected a first line, found none"))?;
        // Given only the first line and the quote after it, the module reports how many characters of
        // line 2 are missing.
        let numbers = filter.read(&file[..file.len().min(line + 2)], false)?;
        let [.., count, _, offset] = numbers;
        if count < 0.0 {
            return Err(filter.error(numbers)?.into());
        }
        // The last group is padded, and a quote and a line end may follow.
        let max = offset as usize + (count as usize).next_multiple_of(4) + 3;
        ensure!(file.len() <= max, "expected a file of at most {max} bytes, found {}", file.len());
        filter.parsed(file, false)
    }

    /// Copies a file to the module, which parses it. If `is_trusted`, the second line is not checked.
    ///
    /// # Errors
    ///
    /// Returns a [`FilterError`] if the module rejects the file.
    pub fn parse(edge: &'m EdgeModule, file: &[u8], is_trusted: bool) -> Result<Self> {
        Self::new(edge)?.parsed(file, is_trusted)
    }

    fn new(edge: &'m EdgeModule) -> Result<Self> {
        let this = edge.call("filter_new", ())?;
        Ok(Self { edge, this, header: Vec::new(), wildcards: 0 })
    }

    fn parsed(mut self, file: &[u8], is_trusted: bool) -> Result<Self> {
        let numbers = self.read(file, is_trusted)?;
        let [header, length, wildcards, ..] = numbers;
        if header == 0.0 {
            return Err(self.error(numbers)?.into());
        }
        self.header = self.edge.read(header as u32, length as u32)?;
        self.wildcards = wildcards as u32;
        Ok(self)
    }

    fn read(&self, file: &[u8], is_trusted: bool) -> Result<Numbers> {
        let length = u32::try_from(file.len())?;
        self.edge.write(self.edge.call("filter_reserve", (self.this, length))?, file)?;
        let arguments = (self.this, length, u32::from(is_trusted));
        let address = self.edge.call("filter_parse", arguments)?;
        let mut numbers = [[0; 8]; 6];
        self.edge.read_into(address, numbers.as_flattened_mut())?;
        Ok(numbers.map(f64::from_le_bytes))
    }

    fn error(&self, [_, address, length, count, found, offset]: Numbers) -> Result<FilterError> {
        Ok(FilterError {
            count: (count != NONE).then_some(count as u64),
            expected: self.edge.text(address as u32, length as u32)?,
            found: match found {
                NONE => Found::End,
                0.0.. => Found::Number(found as u64),
                _ => Found::Byte((BYTE - found) as u8),
            },
            offset: offset as u32,
        })
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

/// The error of a file that the module rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterError {
    /// The expected number of what was expected, if it is a count.
    pub count: Option<u64>,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: Found,
    /// Offset in the file, in bytes.
    pub offset: u32,
}

/// The unexpected item that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// A byte.
    Byte(u8),
    /// A number, or a count.
    Number(u64),
    /// The end of the line or of the file.
    End,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, expected, found, offset } = self;
        let count = count.map_or(String::new(), |count| format!("{count} "));
        let found = match found {
            Found::Byte(byte) => format!("{byte:#04x}"),
            Found::Number(number) => number.to_string(),
            Found::End => "the end".to_owned(),
        };
        write!(f, "expected {count}{expected}, found {found} at byte {offset}")
    }
}

impl Error for FilterError {}
