//! Helpers that create and restore snapshots in memory.

use hedgerow_snapshot::{
    Decoder, EncodeError, Encoder, FormatError, Frame, FrameKind, Manifest, Options, PieceEncoder,
    Run,
};

/// A run with its bytes in the file.
pub type Encoded = (Run, Vec<u8>);

/// Encodes a piece, and returns its runs.
pub fn encode(pieces: &mut PieceEncoder, piece: &[u8]) -> Vec<Encoded> {
    let runs = pieces.encode(piece).unwrap();
    runs.map(|(run, bytes)| (run, bytes.to_vec())).collect()
}

/// Assembles a snapshot from runs.
pub fn assemble(
    image_size: u64,
    options: &Options,
    runs: impl IntoIterator<Item = Encoded>,
) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = Encoder::new(image_size, options)?;
    let mut file = encoder.header();
    for (run, bytes) in runs {
        file.extend(encoder.push(&run)?);
        file.extend(bytes);
    }
    file.extend(encoder.finish()?);
    Ok(file)
}

/// Creates a snapshot of an image, piece by piece.
pub fn create(image: &[u8], options: &Options) -> Vec<u8> {
    let mut pieces = PieceEncoder::new(options).unwrap();
    let runs = image.chunks(options.piece_size as usize).flat_map(|it| encode(&mut pieces, it));
    assemble(image.len() as u64, options, runs).unwrap()
}

/// Parses the manifest of a file, and checks the header.
pub fn open(file: &[u8]) -> Result<Manifest, FormatError> {
    let manifest = Manifest::parse(file, file.len() as u64)?;
    manifest.check_header(file.first_chunk().unwrap())?;
    Ok(manifest)
}

/// Returns the bytes of a frame in the file.
pub fn bytes_of<'a>(file: &'a [u8], frame: &Frame) -> &'a [u8] {
    &file[frame.file_offset as usize..][..frame.compressed_length as usize]
}

/// Decodes a frame of the file.
pub fn decode(decoder: &mut Decoder, file: &[u8], frame: &Frame) -> Result<Vec<u8>, FormatError> {
    let mut out = vec![0xaa; frame.raw_length as usize];
    decoder.begin(frame)?;
    assert_eq!(decoder.push(bytes_of(file, frame)), frame.compressed_length as usize);
    decoder.finish(&mut out)?;
    Ok(out)
}

/// Restores the image of a file, without reading holes.
pub fn restore(file: &[u8]) -> Result<Vec<u8>, FormatError> {
    let manifest = open(file)?;
    let mut decoder = Decoder::new(manifest.piece_size()).unwrap();
    let mut image = vec![0; manifest.image_size() as usize];
    for frame in manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Data) {
        let out = decode(&mut decoder, file, frame)?;
        image[frame.image_offset as usize..][..out.len()].copy_from_slice(&out);
    }
    Ok(image)
}

/// Decodes every frame of a file, including holes.
pub fn verify(file: &[u8]) -> Result<Vec<u8>, FormatError> {
    let manifest = open(file)?;
    let mut decoder = Decoder::new(manifest.piece_size()).unwrap();
    let mut image = Vec::new();
    for frame in manifest.frames() {
        image.extend(decode(&mut decoder, file, frame)?);
    }
    Ok(image)
}
