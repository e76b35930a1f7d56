/** Random scripts of NBD clients, and what a server has to answer to them. */
import { noise } from "../../../../tests/support/snapshots/image.js";
import type { Random } from "../../../edge/test/support/random.js";
import { infoQuery, metaQuery, NBD, uint32 } from "./nbd-client.js";

const { opt, rep, cmd, flag } = NBD;

/** The size of the export of scripts, and its name. */
export const [SIZE, NAME] = [4 * 2 ** 20, "disk"] as const;

/** The data of writes, by the place on the disk: each byte of the disk is zero, or that of the same place here. */
const CONTENT = noise("content of the disk", SIZE);

const MAX_PAYLOAD = 2 ** 25;
const CONTEXTS = ["base:allocation"];

/** A request of a script. */
export interface ScriptRequest {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly length: number;
  /** Whether the server has to perform it; undefined if that is not known. */
  readonly isValid: boolean | undefined;
}

/** What a client sends, and how it goes on. */
export interface Script {
  readonly bytes: Buffer;
  /** How many options and requests it consists of. */
  readonly messages: number;
  /** The options that the server replies to, in order, but for `NBD_OPT_EXPORT_NAME`. */
  readonly options: readonly number[];
  /** How the negotiation ends: with or without transmission. */
  readonly end: "go" | "exportName" | "closed";
  /** The number of bytes in the reply to `NBD_OPT_EXPORT_NAME`. */
  readonly exportLength: number;
  readonly isStructured: boolean;
  readonly requests: ReadonlyMap<bigint, ScriptRequest>;
  /** Whether the server has to answer everything, because the script ends with a disconnect, or in the negotiation. */
  readonly isComplete: boolean;
}

type State = { -readonly [Name in keyof Script]: Script[Name] } & {
  readonly parts: Buffer[];
  /** The export that contexts were selected for, and how many; undefined if that is not known. */
  selected: { readonly name: string; readonly count: number } | undefined;
};

const below = (random: Random, end: number) => random.below(end);
const isOneIn = (random: Random, count: number) => random.below(count) === 0;
const oneOf = <T>(random: Random, items: readonly T[]) => items[random.below(items.length)] as T;

/** Returns a script: a negotiation, and up to `most` requests. */
export function randomScript(random: Random, most: number): Script {
  const handshakeFlags = isOneIn(random, 50) ? 4 + below(random, 100) : oneOf(random, [3, 3, 1, 0]);
  const state: State = {
    ...{ bytes: Buffer.alloc(0), messages: 0, options: [], isStructured: false, isComplete: true },
    ...{ end: "closed", exportLength: (handshakeFlags & 2) === 0 ? 134 : 10 },
    ...{ requests: new Map(), parts: [uint32(handshakeFlags)], selected: { name: NAME, count: 0 } },
  };
  if (handshakeFlags < 4 && negotiate(random, state)) request(random, state, most);
  return { ...state, bytes: Buffer.concat(state.parts) };
}

/** Adds options. Returns whether transmission follows. */
function negotiate(random: Random, state: State): boolean {
  for (let count = below(random, 7); count > 0; count -= 1)
    if (!addOption(random, state)) return false;
  const name = NAME;
  if (state.selected !== undefined && state.selected.name !== name) {
    state.selected = { name, count: 0 };
  }
  if (isOneIn(random, 4)) {
    const isKnown = !isOneIn(random, 10);
    option(state, opt.exportName, Buffer.from(isKnown ? name : oneOf(random, ["", "other"])));
    if (!isKnown) return false;
    state.end = "exportName";
    return true;
  }
  if (!state.isStructured && !isOneIn(random, 3)) {
    option(state, opt.structured, Buffer.alloc(0));
    state.isStructured = true;
    if (isOneIn(random, 2)) {
      option(state, opt.setMeta, metaQuery(name, CONTEXTS));
      state.selected = { name, count: 1 };
    }
  }
  option(state, opt.go, infoQuery(name, [0, 1, 2, 3].slice(below(random, 5))));
  state.end = "go";
  return true;
}

/** Adds an option. Returns false if it ends the negotiation. */
function addOption(random: Random, state: State): boolean {
  const name = oneOf(random, ["", NAME, NAME, "other"]);
  const queries = oneOf(random, [[], CONTEXTS, ["base:"], ["unknown:x", "base:allocation"]]);
  switch (below(random, 12)) {
    case 0:
      option(state, opt.list, junk(random));
      return true;
    case 1:
    case 2: {
      const data = junk(random);
      option(state, opt.structured, data);
      if (data.length === 0) state.isStructured = true;
      return true;
    }
    case 3:
      option(state, opt.listMeta, mutated(random, metaQuery(name, queries)));
      return true;
    case 4:
    case 5: {
      const whole = metaQuery(name, queries);
      const data = mutated(random, whole);
      option(state, opt.setMeta, data);
      const isSelected = state.isStructured && name === NAME;
      const count = isSelected ? queries.filter((query) => CONTEXTS.includes(query)).length : 0;
      state.selected = data.equals(whole) ? { name, count } : undefined;
      return true;
    }
    case 6:
    case 7:
      option(state, opt.info, mutated(random, infoQuery(name, [0, 3, 65_535])));
      return true;
    case 8:
      option(state, oneOf(random, [0, opt.peek, opt.startTls, 11, 2 ** 32 - 1]), junk(random));
      return true;
    case 9:
      option(state, opt.go, infoQuery(oneOf(random, ["", "other"])));
      return true;
    case 10:
      if (isOneIn(random, 4))
        option(state, opt.list, Buffer.alloc(2 ** 16 + 1 + below(random, 999)));
      return true;
    default:
      if (!isOneIn(random, 4)) return true;
      if (isOneIn(random, 2)) {
        option(state, opt.abort, junk(random));
      } else {
        state.messages += 1;
        state.parts.push(Buffer.from("IHAVENOT"), uint32(opt.list), uint32(0));
      }
      return false;
  }
}

function option(state: State, number: number, data: Buffer): void {
  state.messages += 1;
  state.parts.push(Buffer.from("IHAVEOPT"), uint32(number), uint32(data.length), data);
  if (number !== opt.exportName) state.options = [...state.options, number];
}

/** Returns no bytes, or some. */
const junk = (random: Random) => (isOneIn(random, 3) ? bytes(random, 40) : Buffer.alloc(0));

function bytes(random: Random, most: number): Buffer {
  const start = random.below(SIZE - most);
  return CONTENT.subarray(start, start + random.below(most));
}

/** Returns the same bytes, or some that are cut off, longer, or changed. */
function mutated(random: Random, whole: Buffer): Buffer {
  switch (below(random, 8)) {
    case 0:
      return whole.subarray(0, random.below(whole.length));
    case 1:
      return Buffer.concat([whole, bytes(random, 20)]);
    case 2:
      return flipped(random, whole, 1 + random.below(3));
    default:
      return whole;
  }
}

/** Returns a copy of bytes of which `count` are replaced. */
export function flipped(random: Random, whole: Buffer, count: number): Buffer {
  const copy = Buffer.from(whole);
  for (let done = 0; done < count; done += 1)
    copy[random.below(copy.length)] = oneOf(random, [0, 1, 255, random.below(256)]);
  return copy;
}

/** Adds requests, and how they end. */
function request(random: Random, state: State, most: number): void {
  const requests = new Map<bigint, ScriptRequest>();
  state.requests = requests;
  for (let count = random.below(most); count > 0; count -= 1) {
    const type = oneOf(random, [0, 0, 0, 1, 1, 1, 3, 4, 5, 6, 7, 8 + below(random, 60_000)]);
    const flags = isOneIn(random, 10)
      ? random.below(2 ** 16)
      : oneOf(random, [0, 0, 0, flag.fua, flag.df, flag.noHole, flag.one, flag.fastZero]);
    const length = lengthOf(random, type);
    const offset = offsetOf(random, length);
    const isValid = validityOf(state, { type, flags, offset, length });
    // Cookies mean nothing to the server.
    const cookie = (BigInt(requests.size) << 32n) | BigInt(random.below(2 ** 31));
    requests.set(cookie, { type, flags, offset, length, isValid });
    const data = type === cmd.write ? contentAt(offset, length) : Buffer.alloc(0);
    state.parts.push(header({ type, flags, offset, length }, cookie), data);
  }
  state.messages += requests.size + 1;
  if (!isOneIn(random, 5)) {
    const end = { type: cmd.disc, flags: 0, offset: 0, length: 0 };
    state.parts.push(header(end, 0n));
    if (!isOneIn(random, 8)) return;
    // The server does not read it, and may close the connection before it is sent.
    state.parts.push(bytes(random, 5000));
    state.isComplete = false;
    return;
  }
  state.isComplete = false;
  if (isOneIn(random, 2)) {
    state.parts.push(Buffer.alloc(28, 1));
  } else {
    const cut = {
      type: cmd.write,
      flags: 0,
      offset: 0,
      length: oneOf(random, [2 ** 32 - 1, SIZE]),
    };
    state.parts.push(header(cut, 2n ** 63n), bytes(random, 5000));
  }
}

function lengthOf(random: Random, type: number): number {
  if (type !== cmd.write && isOneIn(random, 100)) {
    return oneOf(random, [SIZE, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 ** 32 - 1]);
  }
  if (type === cmd.read && isOneIn(random, 200)) return random.below(3 * 2 ** 20);
  return oneOf(random, [
    0,
    1,
    512,
    4096,
    random.below(5000),
    random.below(5000),
    random.below(30_000),
  ]);
}

function offsetOf(random: Random, length: number): number {
  if (isOneIn(random, 20)) return oneOf(random, [SIZE, SIZE - 1, 2 ** 32, 2 ** 53, 2 ** 63]);
  return random.below(Math.max(SIZE - length, 0) + 1);
}

/** Returns whether the server has to perform a request. */
function validityOf(
  { isStructured, selected }: State,
  { type, flags, offset, length }: Omit<ScriptRequest, "isValid">,
): boolean | undefined {
  const own: Readonly<Record<number, number>> = {
    [cmd.read]: isStructured ? flag.df : 0,
    [cmd.write]: 0,
    [cmd.flush]: 0,
    [cmd.trim]: 0,
    [cmd.cache]: 0,
    // It would not be fast, and is refused.
    [cmd.zeroes]: flag.noHole,
    [cmd.status]: flag.one,
  };
  const known = own[type];
  if (known === undefined || (flags & ~(known | flag.fua)) !== 0) return false;
  if (type === cmd.flush) return true;
  if (offset + length > SIZE) return false;
  if (type !== cmd.status) return true;
  if (length === 0) return false;
  return selected === undefined ? (isStructured ? undefined : false) : selected.count > 0;
}

function header(of: Omit<ScriptRequest, "isValid">, cookie: bigint): Buffer {
  const bytes = Buffer.alloc(28);
  bytes.writeUInt32BE(0x25609513);
  bytes.writeUInt16BE(of.flags, 4);
  bytes.writeUInt16BE(of.type, 6);
  bytes.writeBigUInt64BE(cookie, 8);
  bytes.writeBigUInt64BE(BigInt(of.offset), 16);
  bytes.writeUInt32BE(of.length, 24);
  return bytes;
}

/** Returns the data to write at an offset, also beyond the end. */
function contentAt(offset: number, length: number): Buffer {
  const found = CONTENT.subarray(offset, offset + length);
  return found.length === length ? found : Buffer.alloc(length, 1);
}

/** The end of what was received. */
class Cut extends Error {}

/** Reads what a server has sent. */
class Reader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  take(count: number): Buffer {
    if (this.#at + count > this.bytes.length) throw new Cut("the replies are cut off");
    this.#at += count;
    return this.bytes.subarray(this.#at - count, this.#at);
  }
}

/**
 * Throws if what a server has sent is no answer to a script. All requests have exactly one final reply if the script is
 * complete, and at most one otherwise.
 *
 * @param isComplete whether the whole script was sent, and the connection closed by the server
 */
export function checkReplies(script: Script, received: Buffer, isComplete: boolean): void {
  const reader = new Reader(received);
  script = { ...script, isComplete: isComplete && script.isComplete };
  const open = new Map(script.requests);
  try {
    readNegotiation(script, reader);
    const partial = new Map<bigint, number>();
    while (!reader.isAtEnd) readReply(script, reader, open, partial);
    assert(partial.size === 0 || !script.isComplete, "replies without an end");
  } catch (error) {
    if (!(error instanceof Cut) || script.isComplete) throw error;
  }
  assert(!script.isComplete || open.size === 0, `${open.size} requests without a reply`);
}

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

function readNegotiation(script: Script, reader: Reader): void {
  assert(reader.take(18).toString("latin1", 0, 16) === "NBDMAGICIHAVEOPT", "no greeting");
  let last = 0;
  for (const option of script.options) {
    do {
      const header = reader.take(20);
      assert(header.readBigUInt64BE() === 0x3e889045565a9n, "no reply to an option");
      assert(header.readUInt32BE(8) === option, "a reply to another option");
      last = header.readUInt32BE(12);
      reader.take(header.readUInt32BE(16));
    } while (last !== rep.ack && last < 2 ** 31);
  }
  if (script.end === "go") {
    const isClosing = last === rep.shutdown && !script.isComplete;
    assert(last === rep.ack || isClosing, `GO failed with ${last}`);
  }
  if (script.end === "exportName") reader.take(script.exportLength);
  if (script.end === "closed") assert(reader.isAtEnd, "replies after the negotiation");
}

/** Reads a simple reply, or a chunk. @param partial how much data has arrived of the replies that have not ended */
function readReply(
  { isStructured, isComplete }: Script,
  reader: Reader,
  open: Map<bigint, ScriptRequest>,
  partial: Map<bigint, number>,
): void {
  const magic = reader.take(4).readUInt32BE();
  if (magic === 0x67446698) {
    const header = reader.take(12);
    const [errno, cookie] = [header.readUInt32BE(), header.readBigUInt64BE(4)];
    const request = open.get(cookie);
    assert(request !== undefined, "a reply to no request, or another reply");
    assert(!isStructured || request.type !== cmd.read, "a simple reply to a read");
    checkErrno(request, errno, isComplete);
    if (errno === 0 && request.type === cmd.read) {
      checkData(request.offset, reader.take(request.length));
    }
    open.delete(cookie);
    return;
  }
  assert(magic === 0x668e33ef && isStructured, `the magic number ${magic}`);
  const header = reader.take(16);
  const [flags, type, cookie] = [
    ...[header.readUInt16BE(), header.readUInt16BE(2)],
    header.readBigUInt64BE(4),
  ] as [number, number, bigint];
  const payload = reader.take(header.readUInt32BE(12));
  const request = open.get(cookie);
  assert(request !== undefined, "a chunk for no request, or after the last one");
  const isLast = (flags & 1) !== 0;
  let length = partial.get(cookie) ?? 0;
  if (type === 1) {
    const offset = Number(payload.readBigUInt64BE());
    checkData(offset, payload.subarray(8));
    assert(offset === request.offset + length, "chunks with a gap");
    length += payload.length - 8;
  }
  partial.set(cookie, length);
  if (!isLast) return;
  const errno = type === 0x8001 ? payload.readUInt32BE() : 0;
  checkErrno(request, errno, isComplete);
  const isRead = errno === 0 && request.type === cmd.read;
  assert(!isRead || length === request.length, "chunks that are too short or too long");
  partial.delete(cookie);
  open.delete(cookie);
}

/** Throws if an error is not what the request deserves. The export fails at random, with `EIO`. */
function checkErrno(request: ScriptRequest, errno: number, isComplete: boolean): void {
  const { isValid, type, flags, offset, length } = request;
  // The server may have been closed.
  if (isValid === undefined || (errno === NBD.errno.shutdown && !isComplete)) return;
  const isFailure = errno !== 0 && errno !== NBD.errno.io;
  if (isFailure === !isValid) return;
  const text = JSON.stringify({ type, flags, offset, length });
  throw new Error(`${text}: expected ${isValid ? "success" : "an error"}, found ${errno}`);
}

/** Throws if data is not what was written at its place. */
function checkData(offset: number, data: Buffer): void {
  const expected = CONTENT.subarray(offset, offset + data.length);
  if (data.equals(expected)) return;
  for (let at = 0; at < data.length; at += 1)
    if (data[at] !== 0 && data[at] !== expected[at])
      throw new Error(`foreign data at ${offset + at}`);
}
