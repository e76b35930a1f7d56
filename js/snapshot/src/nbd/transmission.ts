/** The transmission phase of the NBD protocol: requests of one client, and the replies to them. */
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

import { messageOf } from "../error.js";
import { type ByteQueue, ReplyBuffer } from "./buffers.js";
import {
  CHUNK,
  CHUNK_DONE,
  CMD,
  CMD_FLAG,
  CONTEXT_ID,
  ERRNO,
  errnoOf,
  MAX_PAYLOAD,
  MAX_STRING,
  REQUEST_MAGIC,
  SIMPLE_REPLY_MAGIC,
  STRUCTURED_REPLY_MAGIC,
} from "./constants.js";
import { busyPoll, FairShare } from "./event-loop.js";
import type { Export } from "./export.js";
import type { Agreement } from "./handshake.js";

/**
 * The largest read that is answered at once if no data is missing, in bytes. A larger one is answered in such chunks.
 */
const CHUNK_SIZE = 2 ** 18;

/** The maximum number of bytes that unanswered requests hold. At the limit, no more are read. */
const MAX_PENDING_BYTES = 2 ** 25;

/** The maximum number of unanswered requests. At the limit, no more are read. */
const MAX_PENDING_REQUESTS = 1024;

/** The number of unsent bytes of replies at which no more requests are read. */
const MAX_UNSENT = 2 ** 23;

/** The maximum number of extents in a reply to a block status request. */
const MAX_EXTENTS = 2 ** 14;

const REQUEST_LENGTH = 28;
/** The lengths of the headers: of a simple reply, a chunk, and a chunk of data. */
const SIMPLE_LENGTH = 16;
const CHUNK_LENGTH = 20;
const DATA_LENGTH = 28;

interface Request {
  readonly flags: number;
  readonly type: number;
  /** The cookie of the client, in two halves. */
  readonly cookie: readonly [number, number];
  readonly offset: number;
  readonly length: number;
}

/** A part of the answer to a read. */
interface ReadPart {
  readonly offset: number;
  readonly length: number;
  readonly isLast: boolean;
}

/** A write whose data is being received. */
interface IncomingWrite {
  readonly request: Request;
  readonly data: Buffer;
  filled: number;
}

/** The flags that a command may have besides `FUA`. `DF` needs structured replies. */
const FLAGS: Readonly<Record<number, number>> = {
  [CMD.READ]: CMD_FLAG.DF,
  [CMD.WRITE]: 0,
  [CMD.FLUSH]: 0,
  [CMD.TRIM]: 0,
  [CMD.CACHE]: 0,
  [CMD.WRITE_ZEROES]: CMD_FLAG.NO_HOLE | CMD_FLAG.FAST_ZERO,
  [CMD.BLOCK_STATUS]: CMD_FLAG.REQ_ONE,
};

/** A refused write, whose data is skipped. */
interface SkippedWrite {
  readonly request: Request;
  readonly errno: number;
  left: number;
}

/** A client in the transmission phase. */
export class Transmission {
  readonly #exported: Export;
  readonly #agreement: Agreement;
  readonly #received: ByteQueue;
  readonly #socket: Socket;
  readonly #replies: ReplyBuffer;
  readonly #share = new FairShare();
  #write: IncomingWrite | undefined;
  #skip: SkippedWrite | undefined;
  #pendingBytes = 0;
  #pendingRequests = 0;
  /** Whether the client has asked to disconnect, and sends no more requests. */
  #isEnding = false;
  #isShuttingDown = false;
  #idle: (() => void)[] = [];

  constructor(exported: Export, agreement: Agreement, received: ByteQueue, socket: Socket) {
    this.#exported = exported;
    this.#agreement = agreement;
    this.#received = received;
    this.#socket = socket;
    this.#replies = new ReplyBuffer(socket);
    socket.on("drain", () => this.pump());
  }

  /** Answers requests that arrive from now on with `ESHUTDOWN`, and waits for all others. */
  async shutDown(): Promise<void> {
    this.#isShuttingDown = true;
    await this.#settled();
  }

  /** Handles the requests that have been received. */
  pump(): void {
    let hasWorked = false;
    while (!this.#isEnding && !this.#socket.destroyed) {
      // The rest of a write that has begun is received in any case.
      if (this.#write === undefined && this.#isBusy()) {
        this.#socket.pause();
        this.#replies.send();
        return;
      }
      if (this.#share.isUsed) {
        this.#socket.pause();
        this.#replies.send();
        this.#share.wait(() => this.pump());
        return;
      }
      const before = this.#replies.total;
      if (!this.#next()) break;
      hasWorked = true;
      this.#share.count(this.#replies.total - before);
    }
    this.#replies.send();
    if (hasWorked) busyPoll();
    if (this.#socket.isPaused() && !this.#isEnding) this.#socket.resume();
  }

  #isBusy(): boolean {
    return (
      this.#pendingBytes >= MAX_PENDING_BYTES ||
      this.#pendingRequests >= MAX_PENDING_REQUESTS ||
      this.#socket.writableLength + this.#replies.length >= MAX_UNSENT
    );
  }

  /** Handles the next request, or the next part of it. Returns false if its bytes have not arrived. */
  #next(): boolean {
    if (this.#write !== undefined) return this.#receive(this.#write);
    if (this.#skip !== undefined) return this.#skipData(this.#skip);
    const header = this.#received.take(REQUEST_LENGTH);
    if (header === undefined) return false;
    if (header.readUInt32BE() !== REQUEST_MAGIC) {
      this.#socket.destroy();
      return false;
    }
    this.#handle({
      flags: header.readUInt16BE(4),
      type: header.readUInt16BE(6),
      cookie: [header.readUInt32BE(8), header.readUInt32BE(12)],
      // An offset above 2^53 is not exact, but it is beyond the end of any export.
      offset: header.readUInt32BE(16) * 2 ** 32 + header.readUInt32BE(20),
      length: header.readUInt32BE(24),
    });
    return true;
  }

  #handle(request: Request): void {
    if (request.type === CMD.DISC) {
      this.#isEnding = true;
      // Nothing that follows is received.
      this.#socket.pause();
      void this.#settled().then(() => this.#socket.destroySoon());
      return;
    }
    const errno = this.#isShuttingDown ? ERRNO.ESHUTDOWN : this.#check(request);
    const { type, length } = request;
    if (type === CMD.WRITE) {
      if (errno === undefined) {
        this.#write = { request, data: Buffer.allocUnsafe(length), filled: 0 };
        this.#pendingBytes += length;
      } else {
        this.#skip = { request, errno, left: length };
      }
    } else if (errno !== undefined) {
      this.#fail(request, errno);
    } else if (type === CMD.READ) {
      if (!this.#readNow(request)) this.#run(request, length, () => this.#read(request));
    } else if (type === CMD.CACHE) {
      this.#run(request, weightOf(request), () => this.#prefetch(request));
    } else if (type === CMD.BLOCK_STATUS) {
      this.#status(request);
    } else {
      this.#run(request, weightOf(request), () => this.#change(request));
    }
  }

  /** Returns the error of an invalid request. */
  #check({ type, flags, offset, length }: Request): number | undefined {
    const { isReadOnly, size } = this.#exported;
    const { hasStructuredReplies, hasContext } = this.#agreement;
    const allowed = type === CMD.READ && !hasStructuredReplies ? 0 : FLAGS[type];
    if (allowed === undefined || (flags & ~(allowed | CMD_FLAG.FUA)) !== 0) return ERRNO.EINVAL;
    if (type === CMD.FLUSH) return undefined;
    const isWrite = type === CMD.WRITE || type === CMD.WRITE_ZEROES;
    if (isReadOnly && (isWrite || type === CMD.TRIM)) return ERRNO.EPERM;
    if (type === CMD.BLOCK_STATUS && !hasContext) return ERRNO.EINVAL;
    const hasPayload = type === CMD.WRITE || type === CMD.READ;
    if (hasPayload && length > MAX_PAYLOAD) {
      return type === CMD.READ && hasStructuredReplies ? ERRNO.EOVERFLOW : ERRNO.EINVAL;
    }
    if (offset + length > size) return isWrite ? ERRNO.ENOSPC : ERRNO.EINVAL;
    if (type === CMD.BLOCK_STATUS && length === 0) return ERRNO.EINVAL;
    return (flags & CMD_FLAG.FAST_ZERO) === 0 ? undefined : ERRNO.ENOTSUP;
  }

  /** Receives data of a write, and starts it when all has arrived. */
  #receive(write: IncomingWrite): boolean {
    const { request, data } = write;
    write.filled += this.#received.fill(data.subarray(write.filled));
    if (write.filled < data.length) return false;
    this.#write = undefined;
    this.#pendingBytes -= data.length;
    this.#run(request, data.length, async () => {
      await this.#exported.write(request.offset, data);
      await this.#finish(request);
    });
    return true;
  }

  #skipData(skip: SkippedWrite): boolean {
    skip.left -= this.#received.skip(skip.left);
    if (skip.left > 0) return false;
    this.#skip = undefined;
    this.#fail(skip.request, skip.errno);
    return true;
  }

  /** Runs an asynchronous request. @param bytes its weight: the bytes of its data, or those of {@link weightOf} */
  #run(request: Request, bytes: number, action: () => Promise<void>): void {
    this.#pendingBytes += bytes;
    this.#pendingRequests += 1;
    const end = () => {
      this.#pendingBytes -= bytes;
      this.#pendingRequests -= 1;
      this.pump();
      if (this.#pendingRequests > 0) return;
      for (const resolve of this.#idle.splice(0)) resolve();
    };
    action()
      .catch((error: unknown) => this.#fail(request, errnoOf(error), messageOf(error)))
      .then(end, (error: unknown) => {
        this.#socket.destroy(error as Error);
        end();
      });
  }

  /** Waits until no request is running, and sends what is left of the replies. */
  async #settled(): Promise<void> {
    if (this.#pendingRequests > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#replies.send();
  }

  async #change(request: Request): Promise<void> {
    const { type, flags, offset, length } = request;
    if (type === CMD.FLUSH) await this.#exported.flush();
    if (type === CMD.TRIM) await this.#exported.discard(offset, length);
    if (type === CMD.WRITE_ZEROES) {
      const mayPunch = (flags & CMD_FLAG.NO_HOLE) === 0;
      await this.#exported.writeZeros(offset, length, mayPunch);
    }
    await this.#finish(request);
  }

  /** Starts to fetch a range, and yields to other connections in between. */
  async #prefetch(request: Request): Promise<void> {
    const { offset, length } = request;
    for (let done = 0; done < length && !this.#socket.destroyed; done += MAX_PAYLOAD) {
      if (done > 0) await setImmediate();
      this.#exported.prefetch(offset + done, Math.min(MAX_PAYLOAD, length - done));
    }
    this.#succeed(request);
  }

  /** Ends a request that has changed the export. */
  async #finish(request: Request): Promise<void> {
    if ((request.flags & CMD_FLAG.FUA) !== 0 && request.type !== CMD.FLUSH) {
      await this.#exported.flush();
    }
    this.#succeed(request);
  }

  /** Answers a read if its data is available. Returns whether it is answered. */
  #readNow(request: Request): boolean {
    const { offset, length } = request;
    if (length > CHUNK_SIZE) return false;
    try {
      if (length > 0) return this.#readPart(request, { offset, length, isLast: true });
      this.#succeed(request);
    } catch (error) {
      this.#fail(request, errnoOf(error), messageOf(error));
    }
    return true;
  }

  /** Adds a part of the answer to a read if its data is available. Returns whether it is. */
  #readPart(request: Request, part: ReadPart): boolean {
    const headerLength = this.#dataHeaderLength;
    const reply = this.#replies.reserve(headerLength + part.length);
    let isRead = false;
    try {
      isRead = this.#exported.readNow(part.offset, reply.subarray(headerLength));
    } finally {
      if (!isRead) this.#replies.release(reply.length);
    }
    if (isRead) this.#writeDataHeader(reply, request, part);
    return isRead;
  }

  /** Answers a read: in chunks, if the client allows them. */
  async #read(request: Request): Promise<void> {
    const { offset, length, flags } = request;
    const isWhole = !this.#agreement.hasStructuredReplies || (flags & CMD_FLAG.DF) !== 0;
    const size = isWhole ? length : CHUNK_SIZE;
    for (let done = 0; done < length && !this.#socket.destroyed; done += size) {
      const [start, end] = [offset + done, offset + Math.min(done + size, length)];
      const part = { offset: start, length: end - start, isLast: end === offset + length };
      while (!this.#readPart(request, part)) await this.#exported.load(start, part.length);
      this.#replies.send();
      if (!part.isLast) await this.#drained();
    }
  }

  /** Waits until the client has received most of what was sent. */
  async #drained(): Promise<void> {
    while (this.#socket.writableLength >= MAX_UNSENT && !this.#socket.destroyed) {
      await new Promise<void>((resolve) => {
        const go = () => {
          this.#socket.off("drain", go).off("close", go);
          resolve();
        };
        this.#socket.once("drain", go).once("close", go);
      });
    }
  }

  get #dataHeaderLength(): number {
    return this.#agreement.hasStructuredReplies ? DATA_LENGTH : SIMPLE_LENGTH;
  }

  #writeDataHeader(reply: Buffer, { cookie }: Request, { offset, length, isLast }: ReadPart): void {
    if (!this.#agreement.hasStructuredReplies) {
      writeSimpleHeader(reply, 0, cookie);
      return;
    }
    const flags = isLast ? CHUNK_DONE : 0;
    writeChunkHeader(reply, { flags, type: CHUNK.OFFSET_DATA, cookie, length: length + 8 });
    reply.writeUInt32BE(Math.floor(offset / 2 ** 32), CHUNK_LENGTH);
    reply.writeUInt32BE(offset % 2 ** 32, CHUNK_LENGTH + 4);
  }

  #status(request: Request): void {
    const { cookie, flags, offset, length } = request;
    const isSingle = (flags & CMD_FLAG.REQ_ONE) !== 0;
    try {
      const extents = this.#exported.status(offset, length, isSingle ? 1 : MAX_EXTENTS);
      const reply = this.#replies.reserve(CHUNK_LENGTH + 4 + 8 * extents.length);
      writeChunkHeader(reply, {
        flags: CHUNK_DONE,
        type: CHUNK.BLOCK_STATUS,
        cookie,
        length: reply.length - CHUNK_LENGTH,
      });
      reply.writeUInt32BE(CONTEXT_ID, CHUNK_LENGTH);
      for (const [at, extent] of extents.entries()) {
        reply.writeUInt32BE(extent.length, CHUNK_LENGTH + 4 + 8 * at);
        reply.writeUInt32BE(extent.flags, CHUNK_LENGTH + 8 + 8 * at);
      }
    } catch (error) {
      this.#fail(request, errnoOf(error), messageOf(error));
    }
  }

  #succeed({ type, cookie }: Request): void {
    if (type === CMD.READ && this.#agreement.hasStructuredReplies) {
      const reply = this.#replies.reserve(CHUNK_LENGTH);
      writeChunkHeader(reply, { flags: CHUNK_DONE, type: CHUNK.NONE, cookie, length: 0 });
    } else {
      writeSimpleHeader(this.#replies.reserve(SIMPLE_LENGTH), 0, cookie);
    }
  }

  #fail({ type, cookie }: Request, errno: number, message = ""): void {
    const needsChunk = type === CMD.READ || type === CMD.BLOCK_STATUS;
    if (!needsChunk || !this.#agreement.hasStructuredReplies) {
      writeSimpleHeader(this.#replies.reserve(SIMPLE_LENGTH), errno, cookie);
      return;
    }
    const text = Buffer.from(message).subarray(0, MAX_STRING);
    const length = 6 + text.length;
    const reply = this.#replies.reserve(CHUNK_LENGTH + length);
    writeChunkHeader(reply, { flags: CHUNK_DONE, type: CHUNK.ERROR, cookie, length });
    reply.writeUInt32BE(errno, CHUNK_LENGTH);
    reply.writeUInt16BE(text.length, CHUNK_LENGTH + 4);
    text.copy(reply, CHUNK_LENGTH + 6);
  }
}

/** Returns the weight of a request without data: the bytes that it covers, up to the maximum payload. */
function weightOf({ type, length }: Request): number {
  return type === CMD.FLUSH ? 0 : Math.min(length, MAX_PAYLOAD);
}

function writeSimpleHeader(reply: Buffer, errno: number, cookie: Request["cookie"]): void {
  reply.writeUInt32BE(SIMPLE_REPLY_MAGIC, 0);
  reply.writeUInt32BE(errno, 4);
  reply.writeUInt32BE(cookie[0], 8);
  reply.writeUInt32BE(cookie[1], 12);
}

function writeChunkHeader(
  reply: Buffer,
  chunk: Pick<Request, "flags" | "type" | "cookie" | "length">,
): void {
  reply.writeUInt32BE(STRUCTURED_REPLY_MAGIC, 0);
  reply.writeUInt16BE(chunk.flags, 4);
  reply.writeUInt16BE(chunk.type, 6);
  reply.writeUInt32BE(chunk.cookie[0], 8);
  reply.writeUInt32BE(chunk.cookie[1], 12);
  reply.writeUInt32BE(chunk.length, 16);
}
