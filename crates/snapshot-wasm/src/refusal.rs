//! Why something was refused, where JavaScript can read it.

use wasm_bindgen::prelude::*;

/// Why something was refused.
#[wasm_bindgen]
pub struct Refusal {
    message: String,
    field: &'static str,
    offset: f64,
}

#[wasm_bindgen]
impl Refusal {
    /// Where the message lies, in UTF-8.
    pub fn message(&self) -> *const u8 {
        self.message.as_ptr()
    }

    /// How long the message is, in bytes.
    pub fn message_length(&self) -> usize {
        self.message.len()
    }

    /// Where the name of the field lies, in UTF-8.
    pub fn field(&self) -> *const u8 {
        self.field.as_ptr()
    }

    /// How long the name of the field is, in bytes; 0 if it is about none.
    pub fn field_length(&self) -> usize {
        self.field.len()
    }

    /// Where the field lies in the file, in bytes.
    pub fn offset(&self) -> f64 {
        self.offset
    }
}

#[cfg(feature = "decode")]
impl From<hedgerow_snapshot::FormatError> for Refusal {
    fn from(error: hedgerow_snapshot::FormatError) -> Self {
        Self { message: error.to_string(), field: error.field, offset: error.offset as f64 }
    }
}

#[cfg(feature = "encode")]
impl From<hedgerow_snapshot::EncodeError> for Refusal {
    fn from(error: hedgerow_snapshot::EncodeError) -> Self {
        Self { message: error.to_string(), field: "", offset: 0.0 }
    }
}
