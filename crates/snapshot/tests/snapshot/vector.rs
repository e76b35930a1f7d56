//! The worked examples of `docs/vhs.md`: a snapshot, and a delta of it. Tests in other
//! languages read them too, so the format cannot change unnoticed.

use hedgerow_snapshot::{FrameBlocks, FrameKind, Index, Manifest, Mapping, Options};
use serde_json::Value;

use crate::support::{
    delta::{Delta, Files, open_index, restore_from},
    oracle::unzstd,
    snapshot::{create, open, restore, verify},
};

struct Vector {
    image: Vec<u8>,
    /// The parts of the file, such as the header, a frame, and the manifest.
    parts: Vec<Vec<u8>>,
    json: Value,
}

impl Vector {
    fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/snapshot/vector.json");
        let text = std::fs::read_to_string(path).unwrap();
        Self::of(serde_json::from_str(&text).unwrap())
    }

    /// Returns the delta of the snapshot.
    fn delta() -> Self {
        Self::of(Self::read().json["delta"].take())
    }

    fn of(json: Value) -> Self {
        let mut image = vec![0; json["image"]["size"].as_u64().unwrap() as usize];
        for stretch in json["image"]["data"].as_array().unwrap() {
            let (offset, bytes) = (stretch["offset"].as_u64().unwrap(), bytes(&stretch["bytes"]));
            image[offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let parts = json["file"].as_array().unwrap();
        let parts = parts.iter().map(|part| bytes(&part["bytes"])).collect();
        Self { image, parts, json }
    }
}

/// Decodes hexadecimal digits.
fn bytes(digits: &Value) -> Vec<u8> {
    let digits = digits.as_str().unwrap().as_bytes();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

#[test]
fn the_worked_example_is_read() {
    let Vector { image, parts, json } = Vector::read();
    let file = parts.concat();
    assert!(file.len() <= 400 && image.len() <= 200_000);
    assert!(restore(&file).unwrap() == image);
    assert!(verify(&file).unwrap() == image);
    assert!(unzstd(&file).unwrap() == image);

    let manifest = open(&file).unwrap();
    assert_eq!(manifest.identity().to_string(), json["identity"].as_str().unwrap());
    assert_eq!(u64::from(manifest.piece_size()), json["pieceSize"].as_u64().unwrap());
    use FrameKind::{Data, Hole};
    let frames = manifest.frames().iter();
    let frames: Vec<_> = frames
        .map(|it| (it.kind, it.image_offset, it.raw_length, it.compressed_length as usize))
        .collect();
    let lengths: Vec<_> = parts.iter().map(Vec::len).collect();
    let expected = [
        (Data, 0, 4096, lengths[1]),
        (Hole, 4096, 65_536, lengths[2]),
        (Data, 69_632, 3, lengths[3]),
    ];
    assert_eq!(frames, expected);
    assert_eq!((lengths[0], manifest.frames()[0].file_offset), (Manifest::HEADER_LENGTH, 32));
}

/// Another version of zstd may compress data frames differently. The vector then stays unchanged, and
/// must still be read.
#[test]
fn the_worked_example_is_written() {
    let Vector { image, parts, json } = Vector::read();
    let made = create(&image, &Options::default());
    assert_eq!(made[..parts[0].len()], parts[0]);
    if json["madeWithZstd"].as_str() == Some(zstd_safe::version_string()) {
        assert_eq!(made, parts.concat());
    }
}

/// Returns the references of the delta.
fn references(json: &Value) -> Vec<&str> {
    let objects = json["objects"].as_array().unwrap();
    objects.iter().map(|object| object["reference"].as_str().unwrap()).collect()
}

#[test]
fn the_worked_delta_is_read() {
    let (base, Vector { image, parts, json }) = (Vector::read(), Vector::delta());
    let (base_file, file) = (base.parts.concat(), parts.concat());
    let base = open_index(&base_file).unwrap();
    let files = Files::from([(base.identity(), base_file)]);
    assert!(restore_from(&files, &file).unwrap() == image);
    assert!(unzstd(&file).is_err());

    let index = open_index(&file).unwrap();
    assert_eq!(index.identity().to_string(), json["identity"].as_str().unwrap());
    assert_eq!(u64::from(index.depth()), json["depth"].as_u64().unwrap());
    let [object] = index.objects() else { panic!("one base object") };
    let expected = &json["objects"][0];
    assert_eq!(object.identity.to_string(), expected["identity"].as_str().unwrap());
    assert_eq!(object.size, expected["size"].as_u64().unwrap());
    assert_eq!(references(&json), [&object.reference]);
    let frames: Vec<_> = index.frames().iter().map(|it| (it.object, it.file_offset)).collect();
    assert_eq!(frames, [(0, 40), (1, 32), (1, 77)]);
    let data = |frame| Some(FrameBlocks { frame, block: 0 });
    let expected = [(1, data(1)), (1, None), (1, data(0)), (14, None), (1, data(2))];
    assert_eq!(index.mappings(), expected.map(|(blocks, data)| Mapping { blocks, data }));
    assert_eq!(parts[0].len() + parts[1].len(), Index::START_LENGTH);
}

#[test]
fn the_worked_delta_is_written() {
    let (base, Vector { image, parts, json }) = (Vector::read(), Vector::delta());
    let file = parts.concat();
    let write = |base_image, changed: &[_]| {
        let base = open_index(&base.parts.concat()).unwrap();
        let references = &references(&json)[..];
        let delta = Delta { image: &image, base_image, base, changed, references };
        delta.create(&Options::default()).unwrap()
    };
    for made in [write(None, &[2..3, 3..3]), write(Some(&base.image[..]), &[0..18, 0..18])] {
        assert_eq!(made[..parts[0].len()], parts[0]);
        if json["madeWithZstd"].as_str() == Some(zstd_safe::version_string()) {
            assert_eq!(made, file);
        }
    }
}

#[test]
fn the_document_explains_every_byte_of_the_worked_example() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/vhs.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, example) = document.split_once("\n## A worked example\n").unwrap();
    let mut explained = Vec::new();
    for row in example.lines().take_while(|line| !line.starts_with("## ")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        if let [_, offset, digits, _, _] = cells[..]
            && let Ok(offset) = offset.parse::<usize>()
        {
            assert_eq!(offset, explained.len(), "{row}");
            explained.extend(bytes(&digits.replace(['`', ' '], "").into()));
        }
    }
    assert!(explained == Vector::read().parts.concat());
}
