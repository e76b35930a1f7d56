//! Deltas: snapshots that store what changed, and refer to other files for the rest.

mod encoder;
mod index;
mod layout;
mod mappings;
mod piece_encoder;
mod read;
mod reference;
mod tables;
mod write;

pub use encoder::DeltaEncoder;
pub use index::{BaseObject, FrameBlocks, Index, IndexedFrame, Mapping, Segment};
pub(crate) use layout::VERSION;
pub use piece_encoder::{DeltaPiece, DeltaPieceEncoder, DeltaRun, Unchanged};
