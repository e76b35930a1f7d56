//! Rivals of the snapshot codec in WebAssembly: other decompressors and digests.

use std::hash::Hasher;

use ruzstd::decoding::FrameDecoder;
use sha2::Digest;
use wasm_bindgen::prelude::*;
use zstd_safe::DCtx;

/// Buffers for a frame and its content, which JavaScript writes and reads.
#[wasm_bindgen]
pub struct Rivals {
    input: Vec<u8>,
    output: Vec<u8>,
    ruzstd: FrameDecoder,
    zstd: DCtx<'static>,
}

#[wasm_bindgen]
impl Rivals {
    /// Allocates buffers for frames and content of up to `length` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(length: usize) -> Self {
        Self {
            input: vec![0; 2 * length],
            output: vec![0; length],
            ruzstd: FrameDecoder::new(),
            zstd: DCtx::create(),
        }
    }

    /// Returns the address of the frame.
    pub fn input(&self) -> *const u8 {
        self.input.as_ptr()
    }

    /// Decodes a frame of `length` bytes with `ruzstd`. Returns the length of its content.
    pub fn ruzstd(&mut self, length: usize) -> usize {
        self.ruzstd.decode_all(&self.input[..length], &mut self.output).unwrap_or(0)
    }

    /// Decodes a frame of `length` bytes with the C library alone.
    pub fn zstd(&mut self, length: usize) -> usize {
        self.zstd.decompress(self.output.as_mut_slice(), &self.input[..length]).unwrap_or(0)
    }

    /// Returns the first byte of the frame's BLAKE3.
    pub fn blake3(&self, length: usize) -> u8 {
        blake3::hash(&self.input[..length]).as_bytes()[0]
    }

    /// Returns the first byte of the frame's SHA-256.
    pub fn sha256(&self, length: usize) -> u8 {
        sha2::Sha256::digest(&self.input[..length])[0]
    }

    /// Returns the last byte of the frame's XXH64.
    pub fn xxh64(&self, length: usize) -> u8 {
        let mut hasher = twox_hash::XxHash64::with_seed(0);
        hasher.write(&self.input[..length]);
        hasher.finish() as u8
    }

    /// Returns the last byte of the frame's 128-bit XXH3.
    pub fn xxh3(&self, length: usize) -> u8 {
        twox_hash::XxHash3_128::oneshot(&self.input[..length]) as u8
    }
}
