//! Tests of the public API, most of them against the image itself and against zstd's own decoder.

mod damage;
mod decoder;
mod delta;
mod determinism;
mod edges;
mod encoder;
mod frames;
mod manifest;
mod memory;
mod plan;
mod round_trip;
mod support;
mod tail;
mod vector;
mod zstd;
