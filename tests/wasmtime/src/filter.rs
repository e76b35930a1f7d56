//! Path filters.

use std::{error::Error, fmt, thread};

use crate::EdgeModule;

/// What the module has in place of a number that there is not.
const NONE: f64 = -1.0;
/// What it subtracts a byte from, to tell it from a number.
const BYTE: f64 = -2.0;

/// A filter in the memory of a module.
pub struct Filter<'m> {
    edge: &'m EdgeModule,
    this: u32,
    header: Vec<u8>,
    wildcards: u32,
}

impl<'m> Filter<'m> {
    /// Copies `file` into the module, and lets it read the filter there.
    ///
    /// # Errors
    ///
    /// Why the module refused it.
    pub fn parse(
        edge: &'m EdgeModule,
        file: &[u8],
        is_trusted: bool,
    ) -> Result<Self, FilterRefusal> {
        let this = edge.call("filter_new", ());
        let mut filter = Self { edge, this, header: Vec::new(), wildcards: 0 };
        let length = file.len() as u32;
        edge.write(edge.call("filter_reserve", (this, length)), file);
        let numbers = edge.call("filter_parse", (this, length, u32::from(is_trusted)));
        let [header, length, wildcards, found @ ..] = filter.numbers(numbers);
        if header == 0.0 {
            return Err(filter.refusal([length, wildcards, found[0], found[1], found[2]]));
        }
        filter.header = edge.read(header as u32, length as u32);
        filter.wildcards = wildcards as u32;
        Ok(filter)
    }

    /// Whether the filter has `key`.
    pub fn has(&self, key: &[u8]) -> bool {
        let length = key.len() as u32;
        self.edge.write(self.edge.call("filter_reserve_key", (self.this, length)), key);
        let has: u32 = self.edge.call("filter_has", (self.this, length));
        has != 0
    }

    /// The first line.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The depth of the deepest wildcard key; 0 if there are none.
    pub fn wildcards(&self) -> u32 {
        self.wildcards
    }

    fn numbers(&self, start: u32) -> [f64; 6] {
        let mut numbers = [[0; 8]; 6];
        self.edge.read_into(start, numbers.as_flattened_mut());
        numbers.map(f64::from_le_bytes)
    }

    fn refusal(&self, [start, length, count, found, offset]: [f64; 5]) -> FilterRefusal {
        FilterRefusal {
            count: (count != NONE).then_some(count as u64),
            expected: self.edge.text(start as u32, length as u32),
            found: match found {
                NONE => Found::End,
                0.0.. => Found::Number(found as u64),
                _ => Found::Byte((BYTE - found) as u8),
            },
            offset: offset as u32,
        }
    }
}

impl Drop for Filter<'_> {
    /// After a trap the module is not asked again: a second panic would hide the first one.
    fn drop(&mut self) {
        if !thread::panicking() {
            self.edge.call::<_, ()>("__wbg_filter_free", (self.this, 0));
        }
    }
}

/// What the module says of a file that it refused.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterRefusal {
    /// How many were expected.
    pub count: Option<u64>,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: Found,
    /// Where it was found, in bytes from the beginning of the file.
    pub offset: u32,
}

/// What was found in place of what was expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// A byte.
    Byte(u8),
    /// A number, or a count.
    Number(u64),
    /// The end of the line or of the file.
    End,
}

impl fmt::Display for FilterRefusal {
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

impl Error for FilterRefusal {}
