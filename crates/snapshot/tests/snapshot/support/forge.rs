//! Forged files: any values, with matching digests.

use hedgerow_snapshot::{Digest, FrameKind};

/// A file whose fields can all be set. The digest of the manifest and the seek table are computed.
#[derive(Clone, Debug)]
pub struct Forged {
    pub magic: [u8; 8],
    pub version: u16,
    pub digest_function: u8,
    pub reserved: u8,
    pub piece_size: u32,
    pub image_size: u64,
    pub frame_count: u32,
    pub more_reserved: u32,
    pub entries: Vec<ForgedEntry>,
    /// The bytes of all frames.
    pub frames: Vec<u8>,
}

/// An entry of the manifest.
#[derive(Clone, Debug)]
pub struct ForgedEntry {
    pub raw_length: u32,
    pub compressed_length: u32,
    pub kind: u8,
    pub reserved: [u8; 3],
    pub digest: [u8; 32],
}

impl Forged {
    /// Creates a valid file without frames.
    pub fn new(piece_size: u32) -> Self {
        Self {
            magic: *b"hedgevhs",
            version: 1,
            digest_function: 1,
            reserved: 0,
            piece_size,
            image_size: 0,
            frame_count: 0,
            more_reserved: 0,
            entries: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Adds a frame with these bytes, whose entry claims `raw_length` bytes of the image.
    pub fn frame(&mut self, kind: FrameKind, raw_length: u32, bytes: &[u8]) -> &mut Self {
        self.image_size += u64::from(raw_length);
        self.frame_count += 1;
        self.entries.push(ForgedEntry {
            raw_length,
            compressed_length: bytes.len() as u32,
            kind: u8::from(kind == FrameKind::Hole),
            reserved: [0; 3],
            digest: *Digest::of(bytes).as_bytes(),
        });
        self.frames.extend(bytes);
        self
    }

    /// Adds a data frame.
    pub fn data(&mut self, raw: &[u8]) -> &mut Self {
        let mut bytes = vec![0; zstd_safe::compress_bound(raw.len())];
        let length = zstd_safe::compress(&mut bytes[..], raw, 1).unwrap();
        self.frame(FrameKind::Data, raw.len() as u32, &bytes[..length])
    }

    /// Adds a hole frame.
    pub fn hole(&mut self, raw_length: u32) -> &mut Self {
        self.frame(FrameKind::Hole, raw_length, &hole(raw_length))
    }

    /// Returns the offset of the manifest's content.
    pub fn manifest_at(&self) -> u64 {
        32 + self.frames.len() as u64 + 8
    }

    /// Returns the offset of the entry of a frame.
    pub fn entry_at(&self, frame: u64) -> u64 {
        self.manifest_at() + 32 + frame * 44
    }

    /// Returns the content of the manifest without its digest.
    fn manifest(&self) -> Vec<u8> {
        let mut out = self.magic.to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend([self.digest_function, self.reserved]);
        out.extend(self.piece_size.to_le_bytes());
        out.extend(self.image_size.to_le_bytes());
        out.extend(self.frame_count.to_le_bytes());
        out.extend(self.more_reserved.to_le_bytes());
        for entry in &self.entries {
            out.extend(entry.raw_length.to_le_bytes());
            out.extend(entry.compressed_length.to_le_bytes());
            out.push(entry.kind);
            out.extend(entry.reserved);
            out.extend(entry.digest);
        }
        out
    }

    pub fn file(&self) -> Vec<u8> {
        let mut header = b"hedgevhs\x01\0\0\0".to_vec();
        header.extend(self.piece_size.to_le_bytes());
        header.extend(self.image_size.to_le_bytes());
        let mut manifest = self.manifest();
        manifest.extend(*Digest::of(&manifest).as_bytes());

        let entries = self.entries.iter().map(|it| [it.compressed_length, it.raw_length]);
        let entries = [[32, 0]].into_iter().chain(entries).chain([[manifest.len() as u32 + 8, 0]]);
        let mut table: Vec<u8> = entries.flatten().flat_map(u32::to_le_bytes).collect();
        table.extend((self.entries.len() as u32 + 2).to_le_bytes());
        table.extend([0, 0xb1, 0xea, 0x92, 0x8f]);

        let parts = [
            skippable(0x184D_2A57, &header),
            self.frames.clone(),
            skippable(0x184D_2A58, &manifest),
            skippable(0x184D_2A5E, &table),
        ];
        parts.concat()
    }
}

/// Returns a skippable frame.
pub fn skippable(magic: u32, content: &[u8]) -> Vec<u8> {
    [&magic.to_le_bytes(), &(content.len() as u32).to_le_bytes(), content].concat()
}

/// Returns a hole frame, written block by block.
pub fn hole(raw_length: u32) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x84, 0x38];
    frame.extend(raw_length.to_le_bytes());
    let mut rest = raw_length;
    while rest > 0 {
        let block = rest.min(128 << 10);
        rest -= block;
        let header = block * 8 + 2 + u32::from(rest == 0);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    let zeros = vec![0; raw_length as usize];
    let checksum = twox_hash::XxHash64::oneshot(0, &zeros) as u32;
    frame.extend(checksum.to_le_bytes());
    frame
}
