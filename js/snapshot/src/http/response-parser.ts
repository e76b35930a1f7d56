/**
 * Parses the response to a `GET`, in whatever pieces its bytes arrive. Refuses a response that two parsers could read
 * differently.
 */
import { maxHeaderSize } from "node:http";

import { RequestFailure, type ResponseHead } from "./failure.js";

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** How a response begins, to recognise servers that do not speak HTTP. */
const START = "HTTP/1.";

/** A field of a head or trailer, on one line. */
const FIELD = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** The line before a chunk: its length, and extensions, which are ignored. */
const CHUNK =
  /^([\dA-Fa-f]{1,12})(?:;[!#$%&'*+\-.^_`|~\dA-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+|"[\t !\x23-\x5b\x5d-\x7e]*"))?)*$/;

/** A length that a number represents exactly. */
const LENGTH = /^\d{1,15}$/;

/** Fields of which the first one counts, as in Node's client. The values of other repeated fields are joined. */
const SINGLE: ReadonlySet<string> = new Set(["etag", "last-modified", "location", "retry-after"]);

/** Fields that a trailer must not have. */
const FRAMING = /^(content-length|transfer-encoding)$/i;

/** Statuses of responses without a body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 304]);

const LINE_FEED = 0x0a;

/** How long before a server closes an idle connection it is no longer used, in milliseconds. */
const IDLE_MARGIN = 1_000;

/** Receives the parts of a response. */
export interface ResponseParts {
  head(response: ResponseHead): void;
  /** A piece of the body, which is valid during the call. */
  bytes(bytes: Buffer): void;
}

export class ResponseParser {
  /** Whether the whole response was parsed. */
  isComplete = false;
  /** For how long the connection can wait for another request, in milliseconds; 0 if it cannot carry one. */
  idleTime = 0;
  readonly #parts: ResponseParts;
  /** Parses the next line. */
  #parseLine: (line: string) => void = this.#parseStatus;
  /** The beginning of a line whose end has not arrived. */
  #partial = "";
  /** How many bytes more the lines of the head, a chunk or the trailers may have. */
  #room = maxHeaderSize;
  /** The number of bytes before the next line; `Infinity` in a body that ends with the connection. */
  #left = 0;
  #version = "";
  #status = 0;
  #headers = noHeaders();

  constructor(parts: ResponseParts) {
    this.#parts = parts;
  }

  /** Parses the next bytes. @throws {RequestFailure} if they are malformed, and what the receiver throws */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.isComplete) {
      at = this.#left > 0 ? this.#passBody(bytes, at) : this.#readLine(bytes, at);
    }
    // Nothing may follow before the next request.
    if (at < bytes.length) this.idleTime = 0;
  }

  /** Ends a response whose body ends with the connection. */
  end(): void {
    if (this.#left === Number.POSITIVE_INFINITY) this.isComplete = true;
  }

  #passBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    this.#parts.bytes(bytes.subarray(at, end));
    if (this.#left === 0 && this.#parseLine !== this.#parseChunkEnd) this.isComplete = true;
    return end;
  }

  #readLine(bytes: Buffer, at: number): number {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    this.#room -= end - at;
    if (this.#room < 0) throw malformed(`more than ${maxHeaderSize} bytes of headers`);
    this.#partial += bytes.toString("latin1", at, end);
    if (lineFeed >= 0) {
      const line = this.#partial;
      this.#partial = "";
      if (!line.endsWith("\r\n")) throw malformed("a line that ends without a carriage return");
      this.#parseLine(line.slice(0, -2));
    } else if (this.#parseLine === this.#parseStatus && !isStart(this.#partial)) {
      throw malformed("no status line");
    }
    return end;
  }

  #parseStatus(line: string): void {
    const [, version, status] = STATUS_LINE.exec(line) ?? [];
    if (version === undefined) throw malformed("no status line");
    this.#version = version;
    this.#status = Number(status);
    this.#headers = noHeaders();
    this.#parseLine = this.#parseField;
  }

  #parseField(line: string): void {
    if (line === "") {
      this.#endHead();
      return;
    }
    const [, name = "", value = ""] = fieldOf(line);
    const key = name.toLowerCase();
    const first = this.#headers[key];
    if (first === undefined) this.#headers[key] = trimmed(value);
    else if (!SINGLE.has(key)) this.#headers[key] = `${first}, ${trimmed(value)}`;
  }

  #endHead(): void {
    const status = this.#status;
    const { "content-length": length, connection = "" } = this.#headers;
    const encoding = this.#headers["transfer-encoding"];
    // Repeated fields are joined, and do not match.
    if (length !== undefined && !LENGTH.test(length)) throw malformed("a wrong Content-Length");
    if (encoding !== undefined && (!/^chunked$/i.test(encoding) || this.#version === "0")) {
      throw malformed("a Transfer-Encoding that was not requested");
    }
    if (length !== undefined && encoding !== undefined) {
      throw malformed("both a Content-Length and a Transfer-Encoding");
    }
    this.#room = maxHeaderSize;
    if (status < 200 && !BODILESS.has(status)) {
      // An interim response: the final one follows.
      this.#parseLine = this.#parseStatus;
      return;
    }
    const options = connection.toLowerCase().split(",").map(trimmed);
    const isKept = this.#version === "1" || options.includes("keep-alive");
    if (isKept && !options.includes("close") && status !== 101) {
      this.idleTime = idleTimeOf(this.#headers["keep-alive"]);
    }
    if (BODILESS.has(status)) this.isComplete = true;
    else if (encoding !== undefined) this.#parseLine = this.#parseChunk;
    else this.#begin(length === undefined ? Number.POSITIVE_INFINITY : Number(length));
    this.#parts.head({ statusCode: status, headers: this.#headers });
  }

  /** Begins a body that is not in chunks. */
  #begin(length: number): void {
    this.#left = length;
    if (length === 0) this.isComplete = true;
    if (length === Number.POSITIVE_INFINITY) this.idleTime = 0;
  }

  #parseChunk(line: string): void {
    const [, digits] = CHUNK.exec(line) ?? [];
    if (digits === undefined) throw malformed("a wrong length of a chunk");
    this.#left = Number.parseInt(digits, 16);
    this.#room = maxHeaderSize;
    this.#parseLine = this.#left > 0 ? this.#parseChunkEnd : this.#parseTrailer;
  }

  #parseChunkEnd(line: string): void {
    if (line !== "") throw malformed("a chunk that is longer than its length");
    this.#parseLine = this.#parseChunk;
  }

  #parseTrailer(line: string): void {
    if (line === "") this.isComplete = true;
    else if (FRAMING.test(fieldOf(line)[1] ?? "")) throw malformed("a length after the body");
  }
}

/** Returns an object without a prototype: the name of a field may be `__proto__`. */
function noHeaders(): Record<string, string> {
  return Object.create(null);
}

/** Returns whether text may be the beginning of a response. */
function isStart(text: string): boolean {
  return START.startsWith(text.slice(0, START.length));
}

function fieldOf(line: string): RegExpExecArray {
  const field = FIELD.exec(line);
  if (field === null) throw malformed("a malformed header");
  return field;
}

/** Returns how long a connection may be idle, if `Keep-Alive` limits it, in milliseconds. */
function idleTimeOf(keepAlive = ""): number {
  const [, seconds] = /(?:^|[,; ])timeout=(\d{1,9})/i.exec(keepAlive) ?? [];
  if (seconds === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, Number(seconds) * 1000 - IDLE_MARGIN);
}

/** Returns a value without spaces and tabs around it. A regular expression would take quadratic time. */
function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isBlank(value[start])) start += 1;
  while (end > start && isBlank(value[end - 1])) end -= 1;
  return value.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

/** The message repeats nothing: a server may send anything. */
function malformed(found: string): RequestFailure {
  return new RequestFailure(`expected an HTTP response, found ${found}`, true);
}
