//! Creates and restores snapshots, on all cores of a Unix system.
//!
//! ```sh
//! cargo run --release --example vhs -- create disk.img disk.vhs
//! cargo run --release --example vhs -- restore disk.vhs disk.img
//! ```

use std::{
    env,
    error::Error,
    fs::File,
    io::{BufWriter, Write},
    num::NonZero,
    os::unix::fs::FileExt,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use hedgerow_snapshot::{
    Decoder, Encoder, Frame, FrameKind, Manifest, Options, PieceEncoder, Run, data_runs,
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The runs of a piece, with their bytes.
type Piece = Vec<(Run, Vec<u8>)>;

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    match &arguments[..] {
        [create, image, file] if create == "create" => self::create(image.as_ref(), file.as_ref()),
        [restore, file, image] if restore == "restore" => {
            self::restore(file.as_ref(), image.as_ref())
        }
        _ => Err("expected create IMAGE FILE, or restore FILE IMAGE".into()),
    }
}

fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Creates a snapshot. Each of *n* workers encodes every *n*-th piece, and the runs are written in the
/// order of the image.
fn create(image: &Path, file: &Path) -> Result<()> {
    let image = File::open(image)?;
    let image_size = image.metadata()?.len();
    let options = Options::default();
    let mut encoder = Encoder::new(image_size, &options)?;
    let mut out = BufWriter::new(File::create(file)?);
    out.write_all(&encoder.header())?;
    let offsets = || (0..image_size).step_by(options.piece_size as usize);
    thread::scope(|scope| -> Result<()> {
        let pieces: Vec<_> = (0..workers())
            .map(|first| {
                let (sender, receiver) = sync_channel(2);
                let offsets = offsets().skip(first).step_by(workers());
                let image = &image;
                scope.spawn(move || {
                    let failed = compress(image, image_size, &options, offsets, &sender).err();
                    // Sending fails if the writer has stopped because of another error.
                    failed.map(|error| sender.send(Err(error)))
                });
                receiver
            })
            .collect();
        for (_, pieces) in offsets().zip(pieces.iter().cycle()) {
            for (run, bytes) in pieces.recv()?? {
                out.write_all(encoder.push(&run)?)?;
                out.write_all(&bytes)?;
            }
        }
        Ok(())
    })?;
    out.write_all(&encoder.finish()?)?;
    Ok(out.into_inner()?.sync_all()?)
}

fn compress(
    image: &File,
    image_size: u64,
    options: &Options,
    offsets: impl Iterator<Item = u64>,
    done: &SyncSender<Result<Piece>>,
) -> Result<()> {
    let mut pieces = PieceEncoder::new(options)?;
    let mut piece = vec![0; options.piece_size as usize];
    for offset in offsets {
        let piece = &mut piece[..(image_size - offset).min(options.piece_size.into()) as usize];
        image.read_exact_at(piece, offset)?;
        let runs = pieces.encode(piece)?.map(|(run, bytes)| (run, bytes.to_vec()));
        if done.send(Ok(runs.collect())).is_err() {
            break;
        }
    }
    Ok(())
}

/// Restores an image. Each worker takes the next free frame, and writes its data without zeros.
fn restore(file: &Path, image: &Path) -> Result<()> {
    let file = File::open(file)?;
    let manifest = manifest(&file)?;
    let image = File::create(image)?;
    image.set_len(manifest.image_size())?;
    let frames = manifest.frames().iter().filter(|frame| frame.kind == FrameKind::Data);
    let frames: Vec<_> = frames.collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| -> Result<()> {
        let work = || decompress(&file, &manifest, &frames, &next, &image);
        let workers: Vec<_> = (0..workers()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;
    Ok(image.sync_all()?)
}

fn manifest(file: &File) -> Result<Manifest> {
    let size = file.metadata()?.len();
    let mut header = [0; Manifest::HEADER_LENGTH];
    file.read_exact_at(&mut header, 0)?;
    Manifest::check_version(&header)?;
    let mut footer = [0; Manifest::FOOTER_LENGTH];
    file.read_exact_at(&mut footer, size.saturating_sub(Manifest::FOOTER_LENGTH as u64))?;
    let tail_length = Manifest::tail_length(&footer, size)?;
    let mut tail = vec![0; tail_length as usize];
    file.read_exact_at(&mut tail, size - tail_length)?;
    let manifest = Manifest::parse(&tail, size)?;
    manifest.check_header(&header)?;
    Ok(manifest)
}

fn decompress(
    file: &File,
    manifest: &Manifest,
    frames: &[&Frame],
    next: &AtomicUsize,
    image: &File,
) -> Result<()> {
    let mut decoder = Decoder::new(manifest.piece_size())?;
    let mut out = vec![0; manifest.piece_size() as usize];
    while let Some(frame) = frames.get(next.fetch_add(1, Ordering::Relaxed)) {
        let out = &mut out[..frame.raw_length as usize];
        decoder.begin(frame)?;
        file.read_exact_at(decoder.missing(), frame.file_offset)?;
        decoder.filled(frame.compressed_length as usize);
        decoder.finish(out)?;
        for run in data_runs(out) {
            image.write_all_at(&out[run.clone()], frame.image_offset + run.start as u64)?;
        }
    }
    Ok(())
}
