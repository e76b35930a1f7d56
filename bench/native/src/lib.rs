//! Hedgerow's rivals in the native benchmarks of headers.

pub mod rivals;
