//! Errors for JavaScript.

use wasm_bindgen::prelude::*;

/// An error.
#[wasm_bindgen]
pub struct WasmError {
    message: String,
    field: &'static str,
    offset: f64,
}

#[wasm_bindgen]
impl WasmError {
    /// Returns the address of the message, in UTF-8.
    pub fn message(&self) -> *const u8 {
        self.message.as_ptr()
    }

    /// Returns the length of the message in bytes.
    pub fn message_length(&self) -> usize {
        self.message.len()
    }

    /// Returns the address of the name of the field, in UTF-8.
    pub fn field(&self) -> *const u8 {
        self.field.as_ptr()
    }

    /// Returns the length of the name of the field in bytes, or 0 if the error concerns no field.
    pub fn field_length(&self) -> usize {
        self.field.len()
    }

    /// Returns the offset of the field in the file, in bytes.
    pub fn offset(&self) -> f64 {
        self.offset
    }
}

impl From<hedgerow_snapshot::FormatError> for WasmError {
    fn from(error: hedgerow_snapshot::FormatError) -> Self {
        Self { message: error.to_string(), field: error.field, offset: error.offset as f64 }
    }
}

#[cfg(feature = "encode")]
impl From<hedgerow_snapshot::EncodeError> for WasmError {
    fn from(error: hedgerow_snapshot::EncodeError) -> Self {
        Self { message: error.to_string(), field: "", offset: 0.0 }
    }
}
