//! The WebAssembly surface of the npm package `@hedgerow/snapshot`, as two modules: `decode.wasm`
//! reads snapshots, and `encode.wasm`, which is four times as large, creates them. This crate only
//! converts values; the logic is in `hedgerow-snapshot`.
//!
//! Only numbers cross the boundary. JavaScript reads and writes everything else in linear memory.

#[cfg(feature = "encode")]
mod delta_encoder;
#[cfg(feature = "encode")]
mod delta_piece_compressor;
#[cfg(feature = "encode")]
mod delta_piece_record;
#[cfg(feature = "encode")]
mod delta_run_record;
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
#[cfg(feature = "encode")]
mod run_record;
#[cfg(feature = "encode")]
mod snapshot_encoder;
#[cfg(feature = "decode")]
mod tail;
mod wasm_error;

#[cfg(feature = "encode")]
pub use delta_encoder::DeltaEncoder;
#[cfg(feature = "encode")]
pub use delta_piece_compressor::DeltaPieceCompressor;
#[cfg(feature = "decode")]
pub use frame_decoder::FrameDecoder;
#[cfg(feature = "encode")]
pub use limits::{check_options, max_level, max_piece_size, min_level, min_piece_size};
#[cfg(feature = "encode")]
pub use piece_compressor::PieceCompressor;
#[cfg(feature = "decode")]
pub use ranges::RangeCutter;
#[cfg(feature = "encode")]
pub use snapshot_encoder::SnapshotEncoder;
#[cfg(feature = "decode")]
pub use tail::Tail;
pub use wasm_error::WasmError;
