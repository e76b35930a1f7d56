/**
 * Reads tar archives as a stream: ustar, GNU and PAX, with sparse files and extended attributes. Names are strings of
 * bytes (Latin-1), because a name on Linux need not be UTF-8.
 */
import {
  checkSum,
  decimal,
  excerpt,
  Fields,
  invalid,
  MAX_EXTRA,
  MAX_SEGMENTS,
  numberAt,
  textAt,
  tooSparse,
  truncated,
} from "./tar-fields.js";

/** A run of data in a file. The bytes between runs are a hole. */
export interface Segment {
  readonly offset: number;
  readonly length: number;
}

export type TarKind = "file" | "directory" | "symlink" | "link" | "character" | "block" | "fifo";

/** A member of an archive. */
export interface TarEntry {
  readonly path: string;
  readonly kind: TarKind;
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** The time of modification: whole seconds, and the nanoseconds after them. */
  readonly seconds: number;
  readonly nanoseconds: number;
  /** The target of a symbolic or hard link. */
  readonly target: string;
  readonly device: readonly [major: number, minor: number];
  readonly xattrs: ReadonlyMap<string, Buffer>;
  /** The size of a file with its holes. */
  readonly size: number;
  readonly segments: readonly Segment[];
  /** The bytes of all segments, once. What is not read before the next member is skipped. */
  readonly data: AsyncGenerator<Buffer>;
}

/** The unit of an archive, in bytes. */
const BLOCK = 512;

/** Types of members, by the byte in the header. */
const KINDS: ReadonlyMap<string, TarKind> = new Map([
  ["\0", "file"],
  ["0", "file"],
  ["1", "link"],
  ["2", "symlink"],
  ["3", "character"],
  ["4", "block"],
  ["5", "directory"],
  ["6", "fifo"],
  ["7", "file"],
  ["S", "file"],
]);

/**
 * Yields each member of an archive, then reads what follows, which is part of the archive's digest. Ends the chunks when
 * the reader stops, so that no program goes on writing them.
 *
 * @param name name of the archive in errors
 * @throws {CliError} `ERR_SOURCE`
 */
export async function* readTar(
  chunks: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(chunks, name);
  try {
    yield* membersOf(reader, name);
  } finally {
    await reader.close();
  }
}

async function* membersOf(reader: ByteReader, name: string): AsyncGenerator<TarEntry> {
  let fields = new Fields(name);
  for (;;) {
    const header = await reader.read(BLOCK);
    if (header === undefined || header.every((byte) => byte === 0)) break;
    checkSum(header, name);
    const type = header.toString("latin1", 156, 157);
    if (["x", "g", "L", "K"].includes(type)) {
      const stored = sizeOf(numberAt(header, 124, 12, name), name);
      if (stored > MAX_EXTRA) {
        throw invalid(name, `a header of at most ${MAX_EXTRA} bytes`, `one of ${stored}`);
      }
      const content = await reader.expect(stored);
      await reader.expect(padding(stored));
      fields.add(type, content);
      continue;
    }
    const { entry, left, stored: length } = await readMember(reader, header, fields, name);
    yield entry;
    await reader.skip(left());
    // Some programs, such as umoci, do not fill the last block.
    await reader.skipBlock(padding(length));
    fields = new Fields(name);
  }
  for await (const _ of reader.parts(Number.POSITIVE_INFINITY));
}

/** Returns a member, its length in the archive, and a function that says how many of its bytes are not read yet. */
async function readMember(reader: ByteReader, header: Buffer, fields: Fields, name: string) {
  const facts = factsOf(header, fields, name);
  const stored = facts.kind === "file" ? facts.stored : 0;
  const sparse = await sparseMap(reader, header, fields, { stored, name });
  let left = stored - sparse.read;
  const size = sparse.size ?? left;
  const segments = sparse.segments ?? (left === 0 ? [] : [{ offset: 0, length: left }]);
  checkSegments(segments, size, left, `${name}: ${excerpt(facts.path)}`);
  const data = (async function* () {
    for await (const part of reader.parts(left)) {
      left -= part.length;
      yield part;
    }
  })();
  const path = fields.text("GNU.sparse.name") ?? facts.path;
  const entry: TarEntry = { ...facts, path, size, segments, data };
  return { entry, stored, left: () => left };
}

/** Returns what the headers say about a member. */
function factsOf(header: Buffer, fields: Fields, name: string) {
  const type = header.toString("latin1", 156, 157);
  const path = fields.text("path") ?? pathOf(header);
  const kind = KINDS.get(type);
  if (kind === undefined) {
    throw invalid(`${name}: ${excerpt(path)}`, "a file, directory, link or device", `type ${type}`);
  }
  const number = (key: string, offset: number, length: number) =>
    fields.number(key) ?? numberAt(header, offset, length, name);
  const time = fields.time() ?? { seconds: numberAt(header, 136, 12, name), nanoseconds: 0 };
  return {
    path,
    // Archives older than ustar have no type for directories.
    kind: kind === "file" && path.endsWith("/") ? ("directory" as const) : kind,
    mode: numberAt(header, 100, 8, name) & 0o7777,
    uid: idOf(number("uid", 108, 8), name),
    gid: idOf(number("gid", 116, 8), name),
    ...time,
    target: fields.text("linkpath") ?? textAt(header, 157, 100),
    device: deviceOf(header, kind, name),
    xattrs: fields.xattrs,
    stored: sizeOf(number("size", 124, 12), name),
  };
}

function pathOf(header: Buffer): string {
  const path = textAt(header, 0, 100);
  const prefix = header.toString("latin1", 257, 263) === "ustar\0" ? textAt(header, 345, 155) : "";
  return prefix === "" ? path : `${prefix}/${path}`;
}

const NO_DEVICE = [0, 0] as const;

/** Only devices have numbers: some programs leave the fields of other members undefined. */
function deviceOf(header: Buffer, kind: TarKind, name: string): readonly [number, number] {
  if (kind !== "character" && kind !== "block") return NO_DEVICE;
  const [major, minor] = [numberAt(header, 329, 8, name), numberAt(header, 337, 8, name)];
  if (major >= 0 && major < 2 ** 12 && minor >= 0 && minor < 2 ** 20) return [major, minor];
  throw invalid(name, "a number of a device", `${major}:${minor}`);
}

function idOf(id: number, name: string): number {
  // 2 ** 32 - 1 means "no owner" to the kernel.
  if (id >= 0 && id < 2 ** 32 - 1) return id;
  throw invalid(name, "an owner from 0 to 4294967294", `${id}`);
}

function sizeOf(size: number, name: string): number {
  if (size >= 0 && Number.isSafeInteger(size)) return size;
  throw invalid(name, "a size", `${size}`);
}

/** The runs of data in a sparse file, and how much of the data of the member was read to find them. */
interface SparseMap {
  readonly read: number;
  readonly size?: number;
  readonly segments?: readonly Segment[];
}

/** Reads the map of a sparse file, in any of its four formats. */
async function sparseMap(
  reader: ByteReader,
  header: Buffer,
  fields: Fields,
  { stored, name }: { readonly stored: number; readonly name: string },
): Promise<SparseMap> {
  if (header.toString("latin1", 156, 157) === "S") {
    return { read: 0, ...(await oldMap(reader, header, name)) };
  }
  const size = fields.number("GNU.sparse.realsize") ?? fields.number("GNU.sparse.size");
  if (size === undefined) return { read: 0 };
  if (fields.text("GNU.sparse.major") !== "1") {
    return { read: 0, size, segments: segmentsOf(fields.sparseNumbers()) };
  }
  const numbers: number[] = [];
  let read = 0;
  let text = "";
  while (numbers.length === 0 || numbers.length < 1 + 2 * (numbers[0] ?? 0)) {
    if (read + BLOCK > stored) throw truncated(name);
    // A block without the end of a line has no number.
    if (text.length >= BLOCK) throw invalid(name, "a decimal number in a header", "a longer line");
    text += (await reader.expect(BLOCK)).toString("latin1");
    read += BLOCK;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    // The last block is padded with zeros after its last line.
    for (const line of lines) numbers.push(decimal(line, name));
    if ((numbers[0] ?? 0) > MAX_SEGMENTS) throw tooSparse(name);
  }
  return { read, size, segments: segmentsOf(numbers.slice(1, 1 + 2 * (numbers[0] ?? 0))) };
}

/** Reads the map of a sparse file in the format of GNU tar before PAX: in the header, and in blocks after it. */
async function oldMap(reader: ByteReader, header: Buffer, name: string) {
  const numbers: number[] = [];
  const add = (block: Buffer, start: number, count: number) => {
    for (let at = start; at < start + 24 * count; at += 24) {
      if (block[at] === 0) return;
      numbers.push(numberAt(block, at, 12, name), numberAt(block, at + 12, 12, name));
    }
  };
  add(header, 386, 4);
  let more = header[482] !== 0;
  while (more) {
    const block = await reader.expect(BLOCK);
    add(block, 0, 21);
    more = block[504] !== 0;
    if (numbers.length > 2 * MAX_SEGMENTS) throw tooSparse(name);
  }
  return { size: numberAt(header, 483, 12, name), segments: segmentsOf(numbers) };
}

function segmentsOf(numbers: readonly number[]): Segment[] {
  const segments: Segment[] = [];
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    const [offset = 0, length = 0] = [numbers[at], numbers[at + 1]];
    if (length !== 0) segments.push({ offset, length });
  }
  return segments;
}

/** Throws unless segments are in order, within the file, and as long as the data. */
function checkSegments(segments: readonly Segment[], size: number, stored: number, name: string) {
  let end = 0;
  let length = 0;
  for (const segment of segments) {
    if (segment.offset < end || segment.length < 0) throw invalid(name, "runs in order", "others");
    end = segment.offset + segment.length;
    length += segment.length;
  }
  if (!Number.isSafeInteger(end) || !Number.isSafeInteger(size) || end > size || length !== stored)
    throw invalid(name, `runs of ${stored} bytes in a file of ${size}`, `${length} up to ${end}`);
}

/** Reads exact numbers of bytes from chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #name: string;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>, name: string) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#name = name;
  }

  /** Returns bytes, or undefined at the end. */
  async read(length: number): Promise<Buffer | undefined> {
    const isMore = this.#rest.length > 0 || (await this.#fill());
    return isMore ? this.expect(length) : undefined;
  }

  /** Returns bytes that must be there. */
  async expect(length: number): Promise<Buffer> {
    if (this.#rest.length >= length) return this.#take(length);
    const parts: Buffer[] = [];
    for await (const part of this.parts(length)) parts.push(part);
    return Buffer.concat(parts);
  }

  async skip(length: number): Promise<void> {
    if (this.#rest.length >= length) this.#take(length);
    else for await (const _ of this.parts(length));
  }

  /** Skips what is there of some bytes. */
  async skipBlock(length: number): Promise<void> {
    for (let left = length; left > 0 && (this.#rest.length > 0 || (await this.#fill())); ) {
      left -= this.#take(Math.min(left, this.#rest.length)).length;
    }
  }

  /** Yields bytes as they arrive. With an infinite length, to the end. */
  async *parts(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0 && !(await this.#fill())) {
        if (length === Number.POSITIVE_INFINITY) return;
        throw truncated(this.#name);
      }
      const part = this.#take(Math.min(left, this.#rest.length));
      left -= part.length;
      yield part;
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #fill(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.#rest = value;
    }
    return true;
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

const padding = (size: number) => (BLOCK - (size % BLOCK)) % BLOCK;
