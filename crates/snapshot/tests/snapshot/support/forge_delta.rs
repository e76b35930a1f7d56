//! Forged deltas: any values, with a matching digest.

use hedgerow_snapshot::Digest;

use super::forge::skippable;

/// The frame number of a mapping that is a hole.
pub const HOLE: u32 = u32::MAX;

/// A delta whose fields can all be set. The counts, the length and the digest of the manifest are computed
/// unless they are set.
#[derive(Clone, Debug)]
pub struct ForgedDelta {
    pub magic: [u8; 8],
    pub version: u16,
    pub digest_function: u8,
    pub level: u8,
    pub piece_size: u32,
    pub image_size: u64,
    pub frame_count: Option<u32>,
    pub mapping_count: Option<u32>,
    pub object_count: Option<u8>,
    pub reserved: [u8; 3],
    pub depth: u32,
    pub objects: Vec<ForgedObject>,
    pub frames: Vec<ForgedFrame>,
    pub mappings: Vec<ForgedMapping>,
    /// The bytes of the delta's own frames.
    pub data: Vec<u8>,
    /// Bytes after the references.
    pub rest: Vec<u8>,
}

/// The entry of a base object.
#[derive(Clone, Debug)]
pub struct ForgedObject {
    pub identity: [u8; 32],
    pub size: u64,
    pub reference_length: Option<u16>,
    pub reserved: [u8; 6],
    pub reference: Vec<u8>,
}

/// The entry of a frame.
#[derive(Clone, Debug)]
pub struct ForgedFrame {
    pub digest: [u8; 32],
    pub file_offset: u64,
    pub compressed_length: u32,
    pub raw_length: u32,
    pub object: u8,
    pub reserved: [u8; 3],
}

/// The entry of a mapping.
#[derive(Clone, Debug)]
pub struct ForgedMapping {
    pub blocks: u32,
    pub frame: u32,
    pub block: u32,
}

impl ForgedDelta {
    /// Creates a valid delta of an empty image.
    pub fn new(piece_size: u32) -> Self {
        Self {
            magic: *b"hedgevhs",
            version: 2,
            digest_function: 1,
            level: 3,
            piece_size,
            image_size: 0,
            frame_count: None,
            mapping_count: None,
            object_count: None,
            reserved: [0; 3],
            depth: 1,
            objects: Vec::new(),
            frames: Vec::new(),
            mappings: Vec::new(),
            data: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Adds a base object. Its identity is made of its number.
    pub fn base(&mut self, size: u64, reference: &str) -> &mut Self {
        self.objects.push(ForgedObject {
            identity: [self.objects.len() as u8; 32],
            size,
            reference_length: None,
            reserved: [0; 6],
            reference: reference.into(),
        });
        self
    }

    /// Adds a frame of the delta itself.
    pub fn own(&mut self, raw: &[u8]) -> &mut Self {
        let mut bytes = vec![0; zstd_safe::compress_bound(raw.len())];
        let length = zstd_safe::compress(&mut bytes[..], raw, 1).unwrap();
        let file_offset = 40 + self.data.len() as u64;
        self.data.extend(&bytes[..length]);
        let digest = *Digest::of(&bytes[..length]).as_bytes();
        self.frame(0, file_offset, length as u32, raw.len() as u32);
        self.frames.last_mut().unwrap().digest = digest;
        self
    }

    /// Adds the entry of a frame.
    pub fn frame(&mut self, object: u8, at: u64, compressed: u32, raw: u32) -> &mut Self {
        self.frames.push(ForgedFrame {
            digest: [7; 32],
            file_offset: at,
            compressed_length: compressed,
            raw_length: raw,
            object,
            reserved: [0; 3],
        });
        self
    }

    /// Adds a mapping of whole blocks.
    pub fn mapping(&mut self, blocks: u32, frame: u32, block: u32) -> &mut Self {
        self.image_size += u64::from(blocks) * 4096;
        self.mappings.push(ForgedMapping { blocks, frame, block });
        self
    }

    /// Adds a mapping of zeros.
    pub fn hole(&mut self, blocks: u32) -> &mut Self {
        self.mapping(blocks, HOLE, 0)
    }

    /// Returns the offset of the manifest's content.
    pub fn content_at(&self) -> u64 {
        40 + self.data.len() as u64 + 8
    }

    /// Returns the offset of the entry of a base object.
    pub fn object_at(&self, object: usize) -> u64 {
        self.content_at() + 40 + object as u64 * 48
    }

    /// Returns the offset of the entry of a frame.
    pub fn frame_at(&self, frame: usize) -> u64 {
        self.object_at(self.objects.len()) + frame as u64 * 52
    }

    /// Returns the offset of the entry of a mapping.
    pub fn mapping_at(&self, mapping: usize) -> u64 {
        self.frame_at(self.frames.len()) + mapping as u64 * 12
    }

    /// Returns the offset of the reference to a base object.
    pub fn reference_at(&self, object: usize) -> u64 {
        let before = self.objects[..object].iter().map(|object| object.reference.len() as u64);
        self.mapping_at(self.mappings.len()) + before.sum::<u64>()
    }

    /// Returns the content of the manifest without its digest.
    fn content(&self) -> Vec<u8> {
        let mut out = self.magic.to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend([self.digest_function, self.level]);
        out.extend(self.piece_size.to_le_bytes());
        out.extend(self.image_size.to_le_bytes());
        out.extend(self.frame_count.unwrap_or(self.frames.len() as u32).to_le_bytes());
        out.extend(self.mapping_count.unwrap_or(self.mappings.len() as u32).to_le_bytes());
        out.push(self.object_count.unwrap_or(self.objects.len() as u8));
        out.extend(self.reserved);
        out.extend(self.depth.to_le_bytes());
        for object in &self.objects {
            out.extend(object.identity);
            out.extend(object.size.to_le_bytes());
            let length = object.reference_length.unwrap_or(object.reference.len() as u16);
            out.extend(length.to_le_bytes());
            out.extend(object.reserved);
        }
        for frame in &self.frames {
            out.extend(frame.digest);
            out.extend(frame.file_offset.to_le_bytes());
            out.extend(frame.compressed_length.to_le_bytes());
            out.extend(frame.raw_length.to_le_bytes());
            out.push(frame.object);
            out.extend(frame.reserved);
        }
        for mapping in &self.mappings {
            out.extend(
                [mapping.blocks, mapping.frame, mapping.block].map(u32::to_le_bytes).concat(),
            );
        }
        self.objects.iter().for_each(|object| out.extend(&object.reference));
        out.extend(&self.rest);
        out
    }

    pub fn file(&self) -> Vec<u8> {
        let mut header = b"hedgevhs\x02\0\0\0".to_vec();
        header.extend(self.piece_size.to_le_bytes());
        header.extend(self.image_size.to_le_bytes());
        let mut content = self.content();
        content.extend(*Digest::of(&content).as_bytes());
        let length = (content.len() as u32).to_le_bytes();
        [
            &skippable(0x184D_2A57, &header)[..],
            b"\x28\xb5\x2f\xfd\x08vhs",
            &self.data,
            &skippable(0x184D_2A58, &content),
            &length,
            b"\0vhsd",
        ]
        .concat()
    }
}
