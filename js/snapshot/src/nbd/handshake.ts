/** The handshake of the NBD protocol: fixed newstyle, and newstyle for clients that know no other. */
import {
  CONTEXT_ID,
  FLAG,
  FLAG_FIXED_NEWSTYLE,
  FLAG_NO_ZEROES,
  IHAVEOPT,
  INFO,
  MAX_PAYLOAD,
  MAX_STRING,
  MIN_BLOCK,
  NBDMAGIC,
  OPT,
  OPTION_REPLY_MAGIC,
  PREFERRED_BLOCK,
  REP,
} from "./constants.js";
import { CONTEXT, type Export } from "./export.js";

/** The maximum length of the data of an option, in bytes. Longer data is skipped. */
const MAX_OPTION_LENGTH = 2 ** 16;

/** The number of zeros that follow the reply to `NBD_OPT_EXPORT_NAME`. */
const RESERVED_ZEROES = 124;

/** What a client and the server have agreed on. */
export interface Agreement {
  readonly hasStructuredReplies: boolean;
  /** Whether the client selected {@link CONTEXT}, with {@link CONTEXT_ID}. */
  readonly hasContext: boolean;
}

/** A step of the handshake: wait for bytes, skip some, or start TLS. */
export type HandshakeStep =
  | { readonly kind: "read" | "skip"; readonly length: number }
  | { readonly kind: "tls" };

/** What a handshake needs to know. */
export interface HandshakeOptions {
  readonly exported: Export;
  /** The name that clients must ask for. The empty name is the default export. */
  readonly name: string;
  /** Whether clients must start TLS. */
  readonly needsTls: boolean;
  readonly isShuttingDown: () => boolean;
  /** Sends bytes to the client. */
  readonly send: (bytes: Buffer) => void;
}

type Steps<Result> = Generator<HandshakeStep, Result, Buffer>;

/**
 * Performs the handshake. The caller performs each step that this yields, and resumes it with the bytes. Returns
 * undefined if the connection must be closed.
 */
export function* handshake(options: HandshakeOptions): Steps<Agreement | undefined> {
  const { send } = options;
  const greeting = Buffer.alloc(18);
  greeting.writeBigUInt64BE(NBDMAGIC, 0);
  greeting.writeBigUInt64BE(IHAVEOPT, 8);
  greeting.writeUInt16BE(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES, 16);
  send(greeting);
  const flags = (yield read(4)).readUInt32BE();
  if ((flags & ~(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES)) !== 0) return undefined;
  return yield* new Negotiation(options, (flags & FLAG_NO_ZEROES) !== 0).run();
}

/** The options that a client sends, and the state that they lead to. */
class Negotiation {
  readonly #options: HandshakeOptions;
  readonly #omitsZeroes: boolean;
  #isSecure = false;
  #hasStructuredReplies = false;
  #hasContext = false;

  constructor(options: HandshakeOptions, omitsZeroes: boolean) {
    this.#options = options;
    this.#omitsZeroes = omitsZeroes;
  }

  *run(): Steps<Agreement | undefined> {
    for (;;) {
      const header = yield read(16);
      if (header.readBigUInt64BE() !== IHAVEOPT) return undefined;
      const [option, length] = [header.readUInt32BE(8), header.readUInt32BE(12)];
      if (length > MAX_OPTION_LENGTH) {
        yield { kind: "skip", length };
        if (option === OPT.EXPORT_NAME) return undefined;
        this.#reply(option, REP.ERR_TOO_BIG);
        continue;
      }
      const data = length === 0 ? Buffer.alloc(0) : yield read(length);
      const agreement = yield* this.#negotiate(option, data);
      if (agreement !== undefined) return agreement === "close" ? undefined : agreement;
    }
  }

  /** Handles an option. Returns an agreement or "close" if it ends the negotiation. */
  *#negotiate(option: number, data: Buffer): Steps<Agreement | "close" | undefined> {
    const { needsTls, isShuttingDown } = this.#options;
    if (option === OPT.ABORT) {
      this.#reply(option, REP.ACK);
      return "close";
    }
    const isExportName = option === OPT.EXPORT_NAME;
    if (isShuttingDown()) return isExportName ? "close" : this.#reply(option, REP.ERR_SHUTDOWN);
    if (option === OPT.STARTTLS) return yield* this.#startTls(data);
    if (needsTls && !this.#isSecure) {
      return isExportName ? "close" : this.#reply(option, REP.ERR_TLS_REQD);
    }
    switch (option) {
      case OPT.EXPORT_NAME:
        return this.#exportName(data);
      case OPT.GO:
      case OPT.INFO:
        return this.#info(option, data);
      case OPT.LIST:
        return this.#list(data);
      case OPT.STRUCTURED_REPLY:
        if (data.length > 0) return this.#reply(option, REP.ERR_INVALID);
        this.#hasStructuredReplies = true;
        return this.#reply(option, REP.ACK);
      case OPT.LIST_META_CONTEXT:
      case OPT.SET_META_CONTEXT:
        return this.#metaContext(option, data);
      default:
        return this.#reply(option, REP.ERR_UNSUP);
    }
  }

  *#startTls(data: Buffer): Steps<undefined> {
    if (!this.#options.needsTls) return this.#reply(OPT.STARTTLS, REP.ERR_UNSUP);
    if (data.length > 0 || this.#isSecure) return this.#reply(OPT.STARTTLS, REP.ERR_INVALID);
    this.#reply(OPT.STARTTLS, REP.ACK);
    yield { kind: "tls" };
    this.#isSecure = true;
    this.#hasStructuredReplies = false;
    this.#hasContext = false;
    return undefined;
  }

  #exportName(data: Buffer): Agreement | "close" {
    if (!this.#isExport(data.toString())) return "close";
    const { exported, send } = this.#options;
    const reply = Buffer.alloc(10 + (this.#omitsZeroes ? 0 : RESERVED_ZEROES));
    reply.writeBigUInt64BE(BigInt(exported.size));
    reply.writeUInt16BE(this.#transmissionFlags(), 8);
    send(reply);
    return this.#agreement();
  }

  #info(option: number, data: Buffer): Agreement | undefined {
    const fields = new Fields(data);
    const name = fields.string();
    const requests = fields.list(2, () => fields.number(2));
    if (name === undefined || requests === undefined || !fields.isAtEnd) {
      return this.#reply(option, REP.ERR_INVALID);
    }
    if (!this.#isExport(name)) return this.#reply(option, REP.ERR_UNKNOWN);
    const { exported, name: canonicalName } = this.#options;
    const about = Buffer.alloc(12);
    about.writeUInt16BE(INFO.EXPORT);
    about.writeBigUInt64BE(BigInt(exported.size), 2);
    about.writeUInt16BE(this.#transmissionFlags(), 10);
    this.#reply(option, REP.INFO, about);
    if (requests.includes(INFO.NAME)) {
      this.#reply(option, REP.INFO, Buffer.from([0, INFO.NAME]), Buffer.from(canonicalName));
    }
    if (requests.includes(INFO.BLOCK_SIZE)) {
      const sizes = Buffer.alloc(14);
      sizes.writeUInt16BE(INFO.BLOCK_SIZE);
      for (const [at, size] of [MIN_BLOCK, PREFERRED_BLOCK, MAX_PAYLOAD].entries())
        sizes.writeUInt32BE(size, 2 + 4 * at);
      this.#reply(option, REP.INFO, sizes);
    }
    this.#reply(option, REP.ACK);
    return option === OPT.GO ? this.#agreement() : undefined;
  }

  #list(data: Buffer): undefined {
    if (data.length > 0) return this.#reply(OPT.LIST, REP.ERR_INVALID);
    const name = Buffer.from(this.#options.name);
    this.#reply(OPT.LIST, REP.SERVER, uint32(name.length), name);
    return this.#reply(OPT.LIST, REP.ACK);
  }

  #metaContext(option: number, data: Buffer): undefined {
    const isSet = option === OPT.SET_META_CONTEXT;
    if (isSet) this.#hasContext = false;
    const fields = new Fields(data);
    const name = fields.string();
    const queries = fields.list(4, () => fields.string());
    const isValid = name !== undefined && queries !== undefined && fields.isAtEnd;
    if (!isValid || !this.#hasStructuredReplies) return this.#reply(option, REP.ERR_INVALID);
    if (!this.#isExport(name)) return this.#reply(option, REP.ERR_UNKNOWN);
    // A namespace alone lists its contexts, and selects none.
    const lists = !isSet && (queries.length === 0 || queries.includes("base:"));
    const isFound = lists || queries.includes(CONTEXT);
    if (isFound) this.#reply(option, REP.META_CONTEXT, uint32(CONTEXT_ID), Buffer.from(CONTEXT));
    if (isSet) this.#hasContext = isFound;
    return this.#reply(option, REP.ACK);
  }

  #agreement(): Agreement {
    return { hasStructuredReplies: this.#hasStructuredReplies, hasContext: this.#hasContext };
  }

  #isExport(name: string): boolean {
    return name === this.#options.name;
  }

  #transmissionFlags(): number {
    const { isReadOnly } = this.#options.exported;
    const writing = FLAG.SEND_TRIM | FLAG.SEND_WRITE_ZEROES | FLAG.SEND_FAST_ZERO;
    return (
      FLAG.HAS_FLAGS |
      (FLAG.SEND_FLUSH | FLAG.SEND_FUA | FLAG.CAN_MULTI_CONN | FLAG.SEND_CACHE) |
      (isReadOnly ? FLAG.READ_ONLY : writing) |
      (this.#hasStructuredReplies ? FLAG.SEND_DF : 0)
    );
  }

  /** Replies to an option. Always returns undefined: the negotiation goes on. */
  #reply(option: number, type: number, ...data: Buffer[]): undefined {
    const header = Buffer.alloc(20);
    header.writeBigUInt64BE(OPTION_REPLY_MAGIC);
    header.writeUInt32BE(option, 8);
    header.writeUInt32BE(type, 12);
    header.writeUInt32BE(
      data.reduce((sum, { length }) => sum + length, 0),
      16,
    );
    this.#options.send(Buffer.concat([header, ...data]));
    return undefined;
  }
}

/** Reads the fields of an option. Each method returns undefined if the field is missing or too long. */
class Fields {
  readonly #data: Buffer;
  #at = 0;

  constructor(data: Buffer) {
    this.#data = data;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#data.length;
  }

  number(length: 2 | 4): number | undefined {
    if (this.#data.length - this.#at < length) return undefined;
    this.#at += length;
    return this.#data.readUIntBE(this.#at - length, length);
  }

  string(): string | undefined {
    const length = this.number(4);
    if (length === undefined || length > MAX_STRING) return undefined;
    if (length > this.#data.length - this.#at) return undefined;
    this.#at += length;
    return this.#data.toString("utf8", this.#at - length, this.#at);
  }

  /** Reads a number of items, and then the items. */
  list<T>(countLength: 2 | 4, item: () => T | undefined): T[] | undefined {
    const count = this.number(countLength);
    if (count === undefined) return undefined;
    const items: T[] = [];
    while (items.length < count) {
      const next = item();
      if (next === undefined) return undefined;
      items.push(next);
    }
    return items;
  }
}

function read(length: number): HandshakeStep {
  return { kind: "read", length };
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
