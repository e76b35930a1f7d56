/** Fields of headers in tar archives: numbers, text, and the records of PAX and GNU before a member. */
import { CliError } from "../error.js";

/** The maximum size of headers before a member: more than the longest name and all attributes that Linux allows. */
export const MAX_EXTRA = 2 ** 20;

/** The maximum number of runs of data in a sparse file. */
export const MAX_SEGMENTS = 2 ** 16;

/** The maximum length of a name or value in an error, in bytes. */
const MAX_EXCERPT = 300;

/** Shared by all members without attributes, to save memory. */
const NO_XATTRS: ReadonlyMap<string, Buffer> = new Map();

/** The fields in headers before a member, which replace those in its own. */
export class Fields {
  #xattrs: Map<string, Buffer> | undefined;
  readonly #fields = new Map<string, string>();
  readonly #sparse: number[] = [];
  #length = 0;

  constructor(readonly name: string) {}

  /** Adds a header: of PAX, or of GNU for a long name. Global headers have comments; they say nothing about members. */
  add(type: string, content: Buffer): void {
    this.#length += content.length;
    if (this.#length > MAX_EXTRA) {
      throw invalid(this.name, `headers of at most ${MAX_EXTRA} bytes before a member`, "more");
    }
    if (type === "L") this.#fields.set("path", textAt(content, 0, content.length));
    else if (type === "K") this.#fields.set("linkpath", textAt(content, 0, content.length));
    else if (type === "x") this.#addRecords(content);
  }

  /** Adds records of the form `LENGTH KEY=VALUE` and a newline. */
  #addRecords(content: Buffer): void {
    for (let at = 0; at < content.length && content[at] !== 0; ) {
      const space = content.indexOf(" ", at);
      const length = space < 0 ? 0 : Number(content.toString("latin1", at, space));
      const equals = content.indexOf("=", space);
      const end = at + length;
      const isWhole = length > 0 && equals > space && equals < end && end <= content.length;
      if (!isWhole || content[end - 1] !== 0x0a) {
        throw invalid(this.name, "records of PAX", "another header");
      }
      const key = content.toString("latin1", space + 1, equals);
      this.#addRecord(key, content.subarray(equals + 1, end - 1));
      at = end;
    }
  }

  #addRecord(key: string, value: Buffer): void {
    const isName = ["path", "linkpath", "GNU.sparse.name"].includes(key);
    if (key.includes("\0") || (isName && value.includes(0))) {
      throw invalid(this.name, "names without zero bytes", "one with a zero byte");
    }
    if (key.startsWith("SCHILY.xattr.")) {
      // A copy with memory of its own: a part would keep all records in memory.
      const copy = Buffer.allocUnsafeSlow(value.length);
      value.copy(copy);
      this.#xattrs ??= new Map();
      this.#xattrs.set(key.slice("SCHILY.xattr.".length), copy);
      return;
    }
    const text = value.toString("latin1");
    if (key === "GNU.sparse.offset" || key === "GNU.sparse.numbytes") {
      this.#sparse.push(decimal(text, this.name));
      if (this.#sparse.length > 2 * MAX_SEGMENTS) throw tooSparse(this.name);
    } else if (text === "") this.#fields.delete(key);
    else this.#fields.set(key, text);
  }

  get xattrs(): ReadonlyMap<string, Buffer> {
    return this.#xattrs ?? NO_XATTRS;
  }

  text(key: string): string | undefined {
    return this.#fields.get(key);
  }

  number(key: string): number | undefined {
    const text = this.text(key);
    return text === undefined ? undefined : decimal(text, this.name);
  }

  /** Returns the offsets and lengths in the map of a sparse file. */
  sparseNumbers(): readonly number[] {
    const map = this.text("GNU.sparse.map");
    if (map === undefined) return this.#sparse;
    const numbers = map.split(",").map((text) => decimal(text, this.name));
    if (numbers.length > 2 * MAX_SEGMENTS) throw tooSparse(this.name);
    return numbers;
  }

  /** Returns the time of modification. */
  time(): { readonly seconds: number; readonly nanoseconds: number } | undefined {
    const text = this.text("mtime");
    if (text === undefined) return undefined;
    const [, sign, whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text) ?? [];
    const [value, part] = [Number(whole), Number(fraction.padEnd(9, "0").slice(0, 9))];
    if (whole === "" || !Number.isSafeInteger(value))
      throw invalid(this.name, "a time", excerpt(text));
    if (sign === "" || part === 0)
      return { seconds: sign === "" ? value : -value, nanoseconds: part };
    return { seconds: -value - 1, nanoseconds: 1e9 - part };
  }
}

export function textAt(bytes: Buffer, offset: number, length: number): string {
  const field = bytes.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return field.toString("latin1", 0, end < 0 ? field.length : end);
}

/** Reads a number: in octal digits, or in binary if the first bit is set. */
export function numberAt(bytes: Buffer, offset: number, length: number, name: string): number {
  const first = bytes[offset] ?? 0;
  if ((first & 0x80) !== 0) {
    let value = first & 0x40 ? (first & 0x7f) - 0x80 : first & 0x7f;
    for (const byte of bytes.subarray(offset + 1, offset + length)) value = value * 256 + byte;
    if (Number.isSafeInteger(value)) return value;
    throw invalid(name, "a number below 2 ** 53", "a larger one");
  }
  const text = textAt(bytes, offset, length).trim();
  if (/^[0-7]*$/.test(text)) return text === "" ? 0 : Number.parseInt(text, 8);
  throw invalid(name, "octal digits in a header", JSON.stringify(text));
}

export function decimal(text: string, name: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw invalid(name, "a decimal number in a header", JSON.stringify(excerpt(text)));
}

/** Throws unless the sum of the bytes of a header is the one in it. Some programs add up signed bytes. */
export function checkSum(header: Buffer, name: string): void {
  // The sum counts its own eight bytes as spaces.
  let unsigned = 8 * 0x20;
  let signed = unsigned;
  for (let at = 0; at < header.length; at += 1) {
    if (at >= 148 && at < 156) continue;
    const byte = header[at]!;
    unsigned += byte;
    signed += (byte << 24) >> 24;
  }
  const expected = numberAt(header, 148, 8, name);
  if (expected !== unsigned && expected !== signed) {
    throw invalid(name, "a tar archive", "a header with a wrong checksum");
  }
}

/** Returns the beginning of a string of bytes, as text for an error. */
export function excerpt(bytes: string): string {
  const text = Buffer.from(bytes.slice(0, MAX_EXCERPT), "latin1").toString();
  return bytes.length > MAX_EXCERPT ? `${text}…` : text;
}

export function invalid(name: string, expected: string, found: string): CliError {
  return new CliError("ERR_SOURCE", `${name}: expected ${expected}, found ${found}`);
}

export const truncated = (name: string) => invalid(name, "the rest of the archive", "its end");

export const tooSparse = (name: string) =>
  invalid(name, `at most ${MAX_SEGMENTS} runs of data in a file`, "more");
