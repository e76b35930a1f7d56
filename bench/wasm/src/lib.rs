//! What snapshots could have been made of instead, in WebAssembly, for benchmarks.

use std::hash::Hasher;

use ruzstd::decoding::FrameDecoder;
use sha2::Digest;
use wasm_bindgen::prelude::*;
use zstd_safe::DCtx;

/// A frame and what it decodes to, where JavaScript reads and writes them.
#[wasm_bindgen]
pub struct Rivals {
    input: Vec<u8>,
    output: Vec<u8>,
    ruzstd: FrameDecoder,
    zstd: DCtx<'static>,
}

#[wasm_bindgen]
impl Rivals {
    /// Takes memory for frames of up to `length` bytes, and for as much that they decode to.
    #[wasm_bindgen(constructor)]
    pub fn new(length: usize) -> Self {
        Self {
            input: vec![0; 2 * length],
            output: vec![0; length],
            ruzstd: FrameDecoder::new(),
            zstd: DCtx::create(),
        }
    }

    /// Where the frame belongs.
    pub fn input(&self) -> *const u8 {
        self.input.as_ptr()
    }

    /// Decodes a frame of `length` bytes by `ruzstd`. Returns how many bytes it has.
    pub fn ruzstd(&mut self, length: usize) -> usize {
        self.ruzstd.decode_all(&self.input[..length], &mut self.output).unwrap_or(0)
    }

    /// Decodes a frame of `length` bytes by the C library and nothing else.
    pub fn zstd(&mut self, length: usize) -> usize {
        self.zstd.decompress(self.output.as_mut_slice(), &self.input[..length]).unwrap_or(0)
    }

    /// The first byte of the frame's BLAKE3.
    pub fn blake3(&self, length: usize) -> u8 {
        blake3::hash(&self.input[..length]).as_bytes()[0]
    }

    /// The first byte of the frame's SHA-256.
    pub fn sha256(&self, length: usize) -> u8 {
        sha2::Sha256::digest(&self.input[..length])[0]
    }

    /// The last byte of the frame's XXH64.
    pub fn xxh64(&self, length: usize) -> u8 {
        let mut hasher = twox_hash::XxHash64::with_seed(0);
        hasher.write(&self.input[..length]);
        hasher.finish() as u8
    }

    /// The last byte of the frame's XXH3 of 128 bits.
    pub fn xxh3(&self, length: usize) -> u8 {
        twox_hash::XxHash3_128::oneshot(&self.input[..length]) as u8
    }
}
