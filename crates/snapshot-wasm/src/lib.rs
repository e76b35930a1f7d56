//! What the npm package `@hedgerow/snapshot` calls, as two modules: one that reads snapshots, and one
//! that makes them, which is four times as large. Nothing here decides anything: it converts.
//!
//! Only numbers cross the border. Whatever is longer lies in linear memory, where JavaScript reads and
//! writes it.

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
