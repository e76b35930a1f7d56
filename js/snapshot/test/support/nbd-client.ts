/** A client of the NBD protocol that does exactly what a test asks for, right or wrong. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** The numbers of the protocol that tests use. They are written again here, so that a wrong one is found. */
export const NBD = {
  opt: {
    exportName: 1,
    abort: 2,
    list: 3,
    peek: 4,
    startTls: 5,
    info: 6,
    go: 7,
    structured: 8,
    listMeta: 9,
    setMeta: 10,
  },
  rep: {
    ack: 1,
    server: 2,
    info: 3,
    meta: 4,
    unsupported: 0x80000001,
    invalid: 0x80000003,
    tlsRequired: 0x80000005,
    unknown: 0x80000006,
    shutdown: 0x80000007,
    tooBig: 0x80000009,
  },
  cmd: { read: 0, write: 1, disc: 2, flush: 3, trim: 4, cache: 5, zeroes: 6, status: 7 },
  flag: { fua: 1, noHole: 2, df: 4, one: 8, fastZero: 16 },
  errno: { perm: 1, io: 5, invalid: 22, noSpace: 28, overflow: 75, unsupported: 95, shutdown: 108 },
} as const;

const [IHAVEOPT, OPTION_REPLY] = [0x49484156454f5054n, 0x3e889045565a9n];
const [REQUEST, SIMPLE, STRUCTURED] = [0x25609513, 0x67446698, 0x668e33ef];

/** A reply to an option. */
export interface OptionReply {
  readonly option: number;
  readonly type: number;
  readonly data: Buffer;
}

/** A chunk of a structured reply. */
export interface Chunk {
  readonly flags: number;
  readonly type: number;
  readonly payload: Buffer;
}

/** A reply: a simple one, of whose data the request says the length, or the chunks of a structured one. */
export interface Reply {
  readonly cookie: bigint;
  readonly errno: number;
  readonly data: Buffer;
  readonly chunks: readonly Chunk[];
}

/** A request. Its cookie is chosen by the client. */
export interface Request {
  readonly type: number;
  readonly flags?: number;
  readonly offset?: number;
  /** Default: the length of `data`. */
  readonly length?: number;
  readonly data?: Buffer;
}

/** A connection. */
export class NbdClient {
  #received: Buffer[] = [];
  #length = 0;
  #isClosed = false;
  #wake: () => void = () => {};
  #cookie = 0n;
  readonly #requests = new Map<bigint, Request>();
  readonly #replies = new Map<bigint, (reply: Reply) => void>();
  readonly #chunks = new Map<bigint, Chunk[]>();
  #failure: ((error: Error) => void)[] = [];
  /** Why no more replies are received. */
  #ended: Error | undefined;
  isStructured = false;

  private constructor(public socket: Socket) {
    this.listen(socket);
  }

  /** Connects to the socket of a server. */
  static async connect(where: string | { readonly port: number }): Promise<NbdClient> {
    const socket = typeof where === "string" ? connect(where) : connect(where.port, "127.0.0.1");
    await once(socket, "connect");
    return new NbdClient(socket);
  }

  /** Connects, and starts the transmission phase. */
  static async open(
    path: string | { readonly port: number },
    { structured = true, contexts = [] as readonly string[], name = "" } = {},
  ): Promise<NbdClient> {
    const client = await NbdClient.connect(path);
    await client.greet();
    if (structured) await client.option(NBD.opt.structured);
    if (contexts.length > 0) await client.option(NBD.opt.setMeta, metaQuery(name, contexts));
    await client.option(NBD.opt.go, infoQuery(name));
    client.isStructured = structured;
    client.start();
    return client;
  }

  listen(socket: Socket): void {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received.push(chunk);
      this.#length += chunk.length;
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  send(...parts: Buffer[]): void {
    this.socket.write(Buffer.concat(parts));
  }

  /** Returns the next bytes. Throws if the connection is closed before. */
  async read(count: number): Promise<Buffer> {
    while (this.#length < count) {
      if (this.#isClosed) throw new Error("the connection was closed");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const all = this.#received.length === 1 ? this.#received[0]! : Buffer.concat(this.#received);
    this.#received = count < all.length ? [all.subarray(count)] : [];
    this.#length -= count;
    return all.subarray(0, count);
  }

  /** Waits until the server closes the connection. Returns the bytes that arrive before. */
  async closed(): Promise<Buffer> {
    while (!this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return Buffer.concat(this.#received);
  }

  /** Reads the greeting, and answers it. Returns the handshake flags. */
  async greet(flags = 3): Promise<number> {
    const greeting = await this.read(18);
    this.send(uint32(flags));
    return greeting.readUInt16BE(16);
  }

  /** Sends an option. */
  sendOption(option: number, data: Buffer = Buffer.alloc(0), length = data.length): void {
    const header = Buffer.alloc(16);
    header.writeBigUInt64BE(IHAVEOPT);
    header.writeUInt32BE(option, 8);
    header.writeUInt32BE(length, 12);
    this.send(header, data);
  }

  /** Sends an option, and returns all replies to it. */
  async option(option: number, data?: Buffer): Promise<OptionReply[]> {
    this.sendOption(option, data);
    const replies: OptionReply[] = [];
    for (;;) {
      const reply = await this.optionReply();
      replies.push(reply);
      if (reply.type === NBD.rep.ack || reply.type >= 0x80000000) return replies;
    }
  }

  async optionReply(): Promise<OptionReply> {
    const header = await this.read(20);
    if (header.readBigUInt64BE() !== OPTION_REPLY) throw new Error("expected a reply to an option");
    const [option, type] = [header.readUInt32BE(8), header.readUInt32BE(12)];
    return { option, type, data: await this.read(header.readUInt32BE(16)) };
  }

  /** Starts to receive replies. */
  start(): void {
    const receive = async () => {
      for (;;) {
        const reply = await this.#reply();
        this.#replies.get(reply.cookie)?.(reply);
        this.#replies.delete(reply.cookie);
      }
    };
    receive().catch((error: Error) => {
      this.#ended = error;
      for (const fail of this.#failure) fail(error);
    });
  }

  /** Sends a request, and returns the reply. */
  request(request: Request): Promise<Reply> {
    const { type, flags = 0, offset = 0, data = Buffer.alloc(0), length = data.length } = request;
    this.#cookie += 1n;
    const cookie = this.#cookie;
    this.#requests.set(cookie, request);
    const header = Buffer.alloc(28);
    header.writeUInt32BE(REQUEST);
    header.writeUInt16BE(flags, 4);
    header.writeUInt16BE(type, 6);
    header.writeBigUInt64BE(cookie, 8);
    header.writeBigUInt64BE(BigInt(offset), 16);
    header.writeUInt32BE(length, 24);
    return new Promise((resolve, reject) => {
      // Nobody would hear of its end.
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#failure.push(reject);
      this.#replies.set(cookie, resolve);
      this.send(header, data);
    });
  }

  /** Reads, and throws if that fails. */
  async readAt(offset: number, length: number): Promise<Buffer> {
    const { errno, data } = await this.request({ type: NBD.cmd.read, offset, length });
    if (errno !== 0) throw new Error(`read failed: ${errno}`);
    return data;
  }

  /** Disconnects. */
  async close(): Promise<void> {
    this.socket.destroy();
    await this.closed();
  }

  /** Returns the next reply that is complete: chunks of several may be interleaved. */
  async #reply(): Promise<Reply> {
    for (;;) {
      const magic = (await this.read(4)).readUInt32BE();
      if (magic === SIMPLE) return this.#simple();
      if (magic !== STRUCTURED) throw new Error(`unknown magic number ${magic}`);
      const header = await this.read(16);
      const [flags, type] = [header.readUInt16BE(), header.readUInt16BE(2)];
      const cookie = header.readBigUInt64BE(4);
      const chunks = this.#chunks.get(cookie) ?? [];
      this.#chunks.set(cookie, chunks);
      chunks.push({ flags, type, payload: await this.read(header.readUInt32BE(12)) });
      if ((flags & 1) === 0) continue;
      this.#chunks.delete(cookie);
      return this.#joined(cookie, chunks);
    }
  }

  async #simple(): Promise<Reply> {
    const header = await this.read(12);
    const [errno, cookie] = [header.readUInt32BE(), header.readBigUInt64BE(4)];
    const { type, length = 0 } = this.#requests.get(cookie) as Request;
    const hasData = errno === 0 && type === NBD.cmd.read && !this.isStructured;
    return { cookie, errno, data: await this.read(hasData ? length : 0), chunks: [] };
  }

  #joined(cookie: bigint, chunks: readonly Chunk[]): Reply {
    const { offset = 0, length = 0, type } = this.#requests.get(cookie) as Request;
    const data = Buffer.alloc(type === NBD.cmd.read ? length : 0);
    for (const { type, payload } of chunks)
      if (type === 1) payload.copy(data, Number(payload.readBigUInt64BE()) - offset, 8);
    const errno = chunks.find(({ type }) => type >= 0x8000)?.payload.readUInt32BE() ?? 0;
    return { cookie, errno, data, chunks };
  }
}

/** Returns the data of `NBD_OPT_INFO` and `NBD_OPT_GO`. */
export function infoQuery(name: string, requests: readonly number[] = []): Buffer {
  const list = Buffer.alloc(2 + 2 * requests.length);
  list.writeUInt16BE(requests.length);
  for (const [at, request] of requests.entries()) list.writeUInt16BE(request, 2 + 2 * at);
  return Buffer.concat([string(name), list]);
}

/** Returns the data of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`. */
export function metaQuery(name: string, queries: readonly string[]): Buffer {
  return Buffer.concat([string(name), uint32(queries.length), ...queries.map(string)]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function string(text: string): Buffer {
  return Buffer.concat([uint32(Buffer.byteLength(text)), Buffer.from(text)]);
}
