/** The parser takes no response that Node refuses, and reads others as Node does, however their bytes are cut. */
import { Agent, request } from "node:http";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";

import fc from "../../../../tests/support/fast-check.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { ResponseParser } from "../../src/http/response-parser.js";

/** A complete response, or the reason why there is none. */
interface Outcome {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly canContinue: boolean;
}

type Result = Outcome | "failed";

/** The fields that the product reads. */
const READ = [
  ...["content-length", "content-range", "date", "etag", "last-modified", "location"],
  ...["retry-after", "x-amz-bucket-region"],
];

const pick = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => READ.includes(name)));

/** Parses a response that comes in these pieces and ends with the connection. */
function parse(pieces: readonly Buffer[]): Result {
  const heads: { statusCode?: number | undefined; headers: object }[] = [];
  let body = "";
  const parser = new ResponseParser({
    head: (response) => void heads.push(response),
    bytes: (bytes) => {
      body += bytes.toString("latin1");
    },
  });
  try {
    // Each piece is in the same memory, as those of a connection are.
    const buffer = Buffer.alloc(Math.max(0, ...pieces.map(({ length }) => length)));
    for (const piece of pieces) {
      piece.copy(buffer);
      parser.push(buffer.subarray(0, piece.length));
    }
  } catch (error) {
    expect(error).toMatchObject({ name: "RequestFailure", isTransient: true });
    return "failed";
  }
  parser.end();
  if (!parser.isComplete) return "failed";
  expect(heads).toHaveLength(1);
  const { statusCode: status, headers = {} } = heads[0] ?? {};
  return { status, headers: pick(headers), body, canContinue: parser.idleTime > 0 };
}

/** Parses a response with Node's client. */
function parseWithNode(bytes: Buffer): Promise<Result> {
  const socket = new Duplex({
    read: () => {},
    write: (_, __, done) => {
      done();
      setImmediate(() => {
        if (bytes.length > 0) socket.push(bytes);
        socket.push(null);
      });
    },
  });
  const agent = new Agent({ keepAlive: true });
  agent.keepSocketAlive = () => false;
  agent.createConnection = () => socket;
  return new Promise((resolve) => {
    const sent = request({ agent });
    sent.on("error", () => resolve("failed"));
    sent.on("upgrade", () => resolve("failed"));
    sent.on("response", (response) => {
      const { statusCode: status, headers } = response;
      let body = "";
      response.setEncoding("latin1").on("data", (text: string) => {
        body += text;
      });
      response.on("error", () => resolve("failed"));
      response.on("end", () => {
        const canContinue = sent.shouldKeepAlive;
        resolve(
          response.complete ? { status, headers: pick(headers), body, canContinue } : "failed",
        );
      });
    });
    sent.end();
  });
}

/** Returns the bytes up to the end of the response: further ones only keep the connection from being used again. */
function untilEnd(bytes: Buffer): Buffer {
  const parser = new ResponseParser({ head: () => {}, bytes: () => {} });
  let length = 0;
  while (length < bytes.length && !parser.isComplete) {
    parser.push(bytes.subarray(length, length + 1));
    length += 1;
  }
  return bytes.subarray(0, length);
}

/** Cuts bytes into pieces of at most the given lengths. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at = Math.min(bytes.length, at + length);
  }
  return [...pieces, bytes.subarray(at)];
}

const latin1 = (text: string) => Buffer.from(text, "latin1");

const lengths = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.nat({ max: 9 }), fc.nat({ max: 99 })),
  { maxLength: 60 },
);

/** Characters of values. */
const text = fc.string({
  unit: fc.constantFrom(...'aZ09 \t"=;,:/()<>@\\\x80\xa0\xff'),
  maxLength: 12,
});

const spaces = fc.constantFrom("", " ", "\t", "  ", " \t ");

const field = fc
  .tuple(
    fc.oneof(
      fc.constantFrom("ETag", "etag", "Last-Modified", "LOCATION", "Retry-After", "Date"),
      fc.constantFrom("Content-Range", "Set-Cookie", "__proto__", "!#$%&'*+-.^_`|~0", "X"),
    ),
    spaces,
    text,
    spaces,
  )
  .map(([name, before, value, after]) => `${name}:${before}${value}${after}\r\n`);

const fields = fc.array(field, { maxLength: 5 }).map((lines) => lines.join(""));

const connection = fc.constantFrom(
  ...["", "", "", "Connection: close\r\n", "Connection: keep-alive\r\n", "connection: Close \r\n"],
  ...["Connection: TE, close\r\n", "Connection: TE\r\nConnection: keep-alive\r\n"],
);

const reason = fc.constantFrom("", " ", " OK", " Partial Content", " caf\xe9\t!");

const interim = fc
  .tuple(fc.constantFrom(100, 102, 103, 199), reason, fields)
  .map(([status, words, lines]) => `HTTP/1.1 ${status}${words}\r\n${lines}\r\n`);

const body = fc.string({ unit: fc.constantFrom(..."ab\r\n0:\0\xff"), maxLength: 40 });

const extension = fc.constantFrom("", "", ";a", ";a=b;c", ';a="b c"');

const chunks = fc
  .tuple(fc.array(fc.tuple(body, extension)), fc.constantFrom("0", "000"), fields)
  .map(([all, end, trailers]) => {
    const some = all.filter(([data]) => data !== "");
    const parts = some.map(
      ([data, more]) => `${data.length.toString(16).toUpperCase()}${more}\r\n${data}\r\n`,
    );
    return `${parts.join("")}${end}\r\n${trailers}\r\n`;
  });

/** A body, with the fields that frame it. */
const framed = fc.oneof(
  body.map((data) => ["", data]),
  body.map((data) => [`Content-Length:${data.length}\r\n`, data]),
  body.map((data) => [`content-length: 0${data.length} \r\n`, data]),
  chunks.map((data) => ["Transfer-Encoding: chunked\r\n", data]),
  chunks.map((data) => ["transfer-encoding:\tCHUNKED \r\n", data]),
);

const STATUSES = [200, 200, 206, 206, 301, 404, 416, 503, 599, 999];

/** Well-formed responses. */
const response = fc
  .tuple(
    fc.array(interim, { maxLength: 2 }),
    fc.constantFrom("1.1", "1.1", "1.1", "1.0"),
    fc.constantFrom(...STATUSES),
    ...[reason, fields, connection, framed],
  )
  .filter(([, version, , , , , [framing = ""]]) => version === "1.1" || !/chunked/i.test(framing))
  .map(
    ([interims, version, status, words, lines, kept, [framing, data]]) =>
      `${interims.join("")}HTTP/${version} ${status}${words}\r\n${lines}${framing}${kept}\r\n${data}`,
  );

/** Text to insert into a response to make it hostile. */
const hostile = fc.constantFrom(
  ...[
    "\n",
    "\r",
    "\r\n",
    "\0",
    "\x01",
    "\x7f",
    " ",
    "\t",
    ":",
    ";",
    "0",
    "-1",
    "+1",
    "0x1",
    "\x80",
    '"',
    "=",
  ],
  ...["\r\n folded", "\n\n", "\r\n\r\n", "\r\nContent-Length: 3", "\r\nTransfer-Encoding: chunked"],
  ...[
    "\r\nContent-Length: 3, 3",
    "\r\nTransfer-Encoding: gzip",
    "\r\nTransfer-Encoding: x, chunked",
  ],
  ...[
    "\r\nContent-Length : 3",
    "\r\nTransfer-Encoding:\x0bchunked",
    "\r\n: empty",
    "HTTP/1.1 200 OK",
  ],
  ...[
    "\r\nContent-Length:",
    "\r\nTransfer_Encoding: chunked",
    "\r\nUpgrade: a\r\nConnection: Upgrade",
  ],
);

const RUNS = trials({ few: 100, all: 5_000 });

test(
  "takes well-formed responses as Node does, however they are cut",
  minutes({ all: 10 }),
  async () => {
    const property = fc.asyncProperty(response, lengths, async (message, cuts) => {
      const found = parse(cut(latin1(message), cuts));
      expect(found).not.toBe("failed");
      expect(found).toEqual(await parseWithNode(latin1(message)));
    });
    await fc.assert(property, { numRuns: RUNS });
  },
);

test.each([";", "; a", ";a b", ';a"b"', ';a="b', ";a=b=c", ";a,b", ' ;a="b"', ";a;", "\t"])(
  "refuses the length of a chunk with the extension %j",
  async (more) => {
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    expect(parse([latin1(`${head}1${more}\r\na\r\n0\r\n\r\n`)])).toBe("failed");
  },
);

test("takes no part of a response for the whole", minutes({ all: 10 }), async () => {
  const property = fc.asyncProperty(
    response,
    lengths,
    fc.double({ min: 0, max: 1, noNaN: true }),
    async (message, cuts, share) => {
      const part = latin1(message).subarray(0, Math.floor(share * message.length));
      expect(parse(cut(part, cuts))).toEqual(await parseWithNode(part));
    },
  );
  await fc.assert(property, { numRuns: RUNS });
});

test(
  "refuses every response that Node refuses, and takes others as Node does",
  minutes({ all: 10 }),
  async () => {
    const place = fc.double({ min: 0, max: 1, noNaN: true });
    const changes = fc.array(fc.tuple(place, fc.nat({ max: 3 }), hostile), {
      minLength: 1,
      maxLength: 3,
    });
    const property = fc.asyncProperty(
      response,
      changes,
      lengths,
      async (message, changed, cuts) => {
        let text = message;
        for (const [share, removed, inserted] of changed) {
          const at = Math.floor(share * text.length);
          text = text.slice(0, at) + inserted + text.slice(at + removed);
        }
        const bytes = latin1(text);
        const whole = parse([bytes]);
        expect(parse(cut(bytes, cuts))).toEqual(whole);
        if (whole === "failed") return;
        const ended = untilEnd(bytes);
        if (ended.length < bytes.length) expect(whole.canContinue).toBe(false);
        expect(parse([ended])).toEqual(await parseWithNode(ended));
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  },
);
