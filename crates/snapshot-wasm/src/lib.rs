//! The WebAssembly surface of the npm package `@hedgerow/snapshot`, as two modules: `decode.wasm`
//! reads snapshots, and `encode.wasm`, which is four times as large, creates them. This crate only
//! converts values; the logic is in `hedgerow-snapshot`.
//!
//! Only numbers cross the boundary. JavaScript reads and writes everything else in linear memory.

#[cfg(feature = "encode")]
mod assembly;
mod digest_words;
#[cfg(feature = "decode")]
mod frame_decoder;
#[cfg(feature = "decode")]
mod frame_record;
#[cfg(feature = "encode")]
mod limits;
#[cfg(feature = "encode")]
mod piece_compressor;
#[cfg(feature = "decode")]
mod ranges;
mod refusal;
#[cfg(feature = "encode")]
mod run_record;
#[cfg(feature = "decode")]
mod tail;

#[cfg(feature = "encode")]
pub use assembly::Assembly;
#[cfg(feature = "decode")]
pub use frame_decoder::FrameDecoder;
#[cfg(feature = "encode")]
pub use limits::{max_level, max_piece_size, min_level, min_piece_size, options_refusal};
#[cfg(feature = "encode")]
pub use piece_compressor::PieceCompressor;
#[cfg(feature = "decode")]
pub use ranges::RangeCutter;
pub use refusal::Refusal;
#[cfg(feature = "decode")]
pub use tail::Tail;
