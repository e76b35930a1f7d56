//! Readers of zstd and its seekable format that do not use the crate.

use zstd_safe::{DCtx, InBuffer, OutBuffer, find_frame_compressed_size, get_error_name};

/// Decompresses a whole file with zstd's streaming decoder.
pub fn unzstd(file: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut decoder = DCtx::create();
    let mut input = InBuffer::around(file);
    let mut part = vec![0; DCtx::out_size()];
    let mut image = Vec::new();
    let mut is_at_end_of_frame = true;
    loop {
        let before = input.pos();
        let mut output = OutBuffer::around(&mut part[..]);
        let hint = decoder.decompress_stream(&mut output, &mut input).map_err(get_error_name)?;
        image.extend(output.as_slice());
        if (before, 0) != (input.pos(), output.pos()) {
            is_at_end_of_frame = hint == 0;
        } else if is_at_end_of_frame {
            return Ok(image);
        } else {
            return Err("the file ends within a frame");
        }
    }
}

/// Splits a file into its zstd frames.
pub fn zstd_frames(mut file: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    while !file.is_empty() {
        let length = find_frame_compressed_size(file).expect("whole frames");
        let (frame, rest) = file.split_at(length);
        frames.push(frame);
        file = rest;
    }
    frames
}

/// Returns the compressed and the raw length of each frame, read from the seek table at the end of a
/// file.
pub fn seek_table(file: &[u8]) -> Vec<(usize, usize)> {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap()) as usize;
    let (rest, footer) = file.split_at(file.len() - 9);
    assert_eq!(number(&footer[5..]), 0x8F92_EAB1);
    assert_eq!(footer[4], 0, "no checksums");
    let count = number(&footer[..4]);
    let (rest, entries) = rest.split_at(rest.len() - count * 8);
    let start = rest.len() - 8;
    assert_eq!(number(&rest[start..start + 4]), 0x184D_2A5E);
    assert_eq!(number(&rest[start + 4..]), count * 8 + 9);
    let entries = entries.chunks(8).map(|entry| (number(&entry[..4]), number(&entry[4..])));
    let entries: Vec<_> = entries.collect();
    assert_eq!(entries.iter().map(|entry| entry.0).sum::<usize>(), start);
    entries
}
