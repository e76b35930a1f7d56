/**
 * Every way in which Node sends a head, with names and arguments that an adapter could read differently from
 * Node. A test runs these cases in this Node, `tests/runtimes` in every supported version.
 */
import { once } from "node:events";
import { open } from "node:fs/promises";
import { connect, createServer, type IncomingHttpHeaders } from "node:http2";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type ConnectOptions, hedgerow } from "hedgerow/connect";
import type { Cases } from "../../cases/case.js";
import { equal } from "../../support/assert.js";
import { ask } from "../../support/http/client.js";
import { pairsOf } from "../../support/http/fields.js";
import { closed, listening, serve } from "../../support/http/listen.js";

/** Rules, and whether a field of these responses is stripped. Node adds a `Date` of its own if there is none. */
interface Rules {
  headers: NonNullable<ConnectOptions["headers"]>;
  isStripped: (field: Field) => boolean;
}

const DENIED: Rules = {
  headers: ["x-internal-*", "x-debug", "x-token", "date"],
  isStripped: ([name, value]) =>
    /^x-(internal-.*|debug|token)$/i.test(name) || (isDate(name) && value === INTERNAL_DATE),
};

const ALLOWED: Rules = {
  headers: { keep: ["x-kept", "x-also"] },
  isStripped: ([name, value]) =>
    isDate(name)
      ? value === INTERNAL_DATE
      : !/^(?:x-kept|x-also|:.*)$/i.test(name) && !isFraming(name),
};

const NONE: Rules = { headers: ["x-unused-name"], isStripped: () => false };

/** Returns whether Node adds a field, or an allow-list keeps it without a rule. */
const isFraming = (name: string) =>
  /^(?:connection|keep-alive|transfer-encoding|content-length)$/i.test(name);
const isDate = (name: string) => /^date$/i.test(name);
const INTERNAL_DATE = "Thu, 01 Jan 1970 00:00:00 GMT";

type Field = readonly [name: string, value: unknown];

/** The Kelvin sign, whose lower case is the ASCII letter "k". */
const KELVIN = "\u212a";
const FILE = process.execPath;

/** Node's types do not cover all arguments that Node accepts. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Loose = any;
type Ways = Record<string, (response: Loose) => unknown>;

const object = () => ({ "X-Kept": "1", "x-internal-token": "a7", "X-Debug": ["1", "2"] });
const flat = () => ["X-Kept", "1", "x-internal-token", "a7", "X-DEBUG", "1", "x-debug", "2"];
const pairs = () => Object.entries({ "X-Kept": "1", "x-internal-token": "a7", "X-Debug": "1" });
const asFunction = () => Object.assign(() => {}, object());

/** Arguments of `writeHead` after the status. */
const ARGUMENTS: Record<string, () => unknown[]> = {
  "an object": () => [object()],
  "a reason and an object": () => ["Fine", object()],
  "nothing and an object": () => [undefined, object()],
  "null and an object": () => [null, object()],
  "an object and nothing": () => [object(), undefined],
  "an object and null": () => [object(), null],
  "an object and an empty object": () => [object(), {}],
  "an empty object and another": () => [{}, object()],
  "two objects": () => [{ "x-debug": "1", "x-kept": "1" }, { "x-internal-token": "a7" }],
  "a reason that is an object, and an object": () => [new String("Fine"), object()],
  "a flat list": () => [flat()],
  "an empty object, and a flat list": () => [{}, flat()],
  "an empty list, and a flat list": () => [[], flat()],
  "an object, and an empty list": () => [object(), []],
  pairs: () => [pairs()],
  "an empty object and pairs": () => [{}, pairs()],
  "pairs that are objects": () => [[["X-Kept", "1"], { 0: "x-debug", 1: "1" }]],
  "pairs that are strings": () => [[["x-debug", "1"], "ab", "cd"]],
  "pairs with more than two parts": () => [
    [
      ["X-Kept", "1", "x-debug"],
      ["x-debug", "1", "x"],
    ],
  ],
  "pairs without a value": () => [[["X-Kept", "1"], ["x-debug"]]],
  "a list that ends in a name": () => [["x-kept", "1", "x-debug"]],
  "an object without a prototype": () => [Object.assign(Object.create(null), object())],
  "an object with the name __proto__": () => [
    Object.assign(JSON.parse('{"__proto__":"1"}'), object()),
  ],
  "an empty name": () => [{ "": "1", ...object() }],
  "names with white space": () => [
    { " x-internal-token": "1", "\tx-debug\u00a0": "1", "x-kept": "1" },
  ],
  "names with white space in a flat list": () => [[" x-internal-token\n", "1", "x-kept", "1"]],
  "names with white space in pairs": () => [
    [
      ["\ufeffx-internal-token ", "1"],
      ["x-kept", "1"],
    ],
  ],
  "names with a letter whose lower case is ASCII": () => [
    { [`x-to${KELVIN}en`]: "1", "x-kept": "1" },
  ],
  "a flat list with a letter whose lower case is ASCII": () => [
    ["x-kept", "1", `X-TO${KELVIN}EN`, "1"],
  ],
  "names that are objects": () => [
    [
      ["x-kept", "1"],
      [new String("x-debug"), "1"],
    ],
  ],
  "names that are objects in a flat list": () => [["x-kept", "1", new String("x-debug"), "1"]],
  "names that are numbers": () => [[1, "1", "x-debug", "1"]],
  "names that are undefined": () => [[undefined, "1", "x-debug", "1"]],
  "names that are null in pairs": () => [
    [
      [null, "1"],
      ["x-debug", "1"],
    ],
  ],
};

/** Functions, whose keys are fields for HTTP/1 but not for HTTP/2. */
const FUNCTIONS: Record<string, () => unknown[]> = {
  "a function with fields": () => [asFunction()],
  "an empty object and a function with fields": () => [{}, asFunction()],
};

/** Fields set before the head is written. */
const BEFORE: Ways = {
  "": () => {},
  ", after setHeader": (response) => {
    response.setHeader("X-Internal-Other", "1");
    response.setHeader("x-also", "1");
    response.setHeader("Date", INTERNAL_DATE);
  },
};

/** Returns a way to send a head for each kind of arguments, with and without fields set before. */
const headsOf = (kinds: Record<string, () => unknown[]>, method = "writeHead"): Ways =>
  Object.fromEntries(
    Object.entries(kinds).flatMap(([what, given]) =>
      Object.entries(BEFORE).map(([also, before]) => [
        `${method} with ${what}${also}`,
        (response: Loose) => {
          before(response);
          // Node 26 has no `writeHeader`.
          const write = response[method] ?? response.writeHead;
          write.call(response, 200, ...given()).end("body");
        },
      ]),
    ),
  );

/** Sets fields one by one, including names that Node refuses or changes. */
const set = (response: Loose) => {
  for (const name of ["x-kept", "x-debug", "X-Internal-Token"]) response.setHeader(name, "1");
  for (const name of [" x-internal-token", `x-to${KELVIN}en`]) {
    try {
      response.setHeader(name, "1");
      response.appendHeader(name, "2");
    } catch {
      // Node refuses the name over HTTP/1.
    }
  }
  return response;
};

/** Ways of both of Node's servers. */
const BOTH: Ways = {
  ...headsOf(ARGUMENTS),
  "the implicit head of end()": (response) => set(response).end(),
  "the implicit head of end() with a body": (response) => set(response).end("body"),
  "the implicit head of write()": (response) => {
    set(response).write("bo");
    response.end("dy");
  },
  "the implicit head of a pipe": (response) => void Readable.from(["body"]).pipe(set(response)),
  "flushHeaders()": (response) => {
    set(response).flushHeaders();
    response.end();
  },
  "a head followed by a second one": (response) => {
    set(response).writeHead(200);
    response.writeHead(200, object());
    response.end();
  },
  "a wrapper of writeHead()": (response) => {
    const { writeHead } = response;
    response.writeHead = function (this: Loose, ...given: unknown[]) {
      set(this);
      return Reflect.apply(writeHead, this, given);
    };
    response.end("body");
  },
};

const HTTP1: Ways = {
  ...BOTH,
  ...headsOf(FUNCTIONS),
  ...headsOf({ ...ARGUMENTS, ...FUNCTIONS }, "writeHeader"),
  "_implicitHeader()": (response) => {
    set(response)._implicitHeader();
    response.end();
  },
  "setHeaders() with a Map": (response) =>
    response.setHeaders(new Map(Object.entries(object()))).end("body"),
  "setHeaders() with Headers": (response) =>
    response.setHeaders(new Headers({ "x-debug": "1", "x-kept": "1" })).end("body"),
  "appendHeader()": (response) =>
    response.appendHeader("x-debug", "1").appendHeader("X-Debug", ["2"]).end("body"),
};

const onStream = { ":status": 203, ...object(), [`x-to${KELVIN}en`]: "1" };

const HTTP2: Ways = {
  ...BOTH,
  "stream.respond()": ({ stream }) => {
    stream.respond(onStream);
    stream.end("body");
  },
  "stream.respond() with a flat list": ({ stream }) => {
    // Only newer versions accept lists.
    const fields = [":status", 203, ...flat(), `x-to${KELVIN}en`, "1"];
    try {
      stream.respond(fields);
    } catch {
      stream.respond(onStream);
    }
    stream.end("body");
  },
  "stream.respond() after setHeader()": (response) => {
    set(response).stream.respond();
    response.end();
  },
  "stream.end()": (response) => {
    set(response).stream.end("body");
  },
  "stream.respondWithFile()": ({ stream }) => stream.respondWithFile(FILE, onStream, { length: 9 }),
  "stream.respondWithFile() with statCheck": ({ stream }) =>
    stream.respondWithFile(FILE, onStream, {
      length: 9,
      statCheck: (_stat: unknown, fields: Loose) => void Object.assign(fields, object()),
    }),
  "stream.respondWithFD()": async ({ stream }) => {
    const file = await open(FILE);
    stream.on("close", () => file.close());
    stream.respondWithFD(file, onStream, { length: 9 });
  },
  "stream.respondWithFD() with statCheck": async ({ stream }) => {
    const file = await open(FILE);
    stream.on("close", () => file.close());
    stream.respondWithFD(file, onStream, {
      length: 9,
      statCheck(_stat: unknown, fields: Loose, options: Loose) {
        Object.assign(fields, object());
        options.length = 7;
      },
    });
  },
  "stream.respondWithFile() of a missing file": ({ stream }) =>
    stream.respondWithFile("/no/such/file", onStream, {
      onError: () => stream.respond({ ":status": 404, ...object() }, { endStream: true }),
    }),
  "createPushResponse()": (response) =>
    response.createPushResponse({ ":path": "/a", ...object() }, (error: unknown, pushed: Loose) => {
      if (error) throw error;
      set(pushed).writeHead(200, object());
      pushed.end("pushed");
      response.end("body");
    }),
  "stream.pushStream()": ({ stream }) =>
    stream.pushStream({ ":path": "/a", ...object() }, (error: unknown, pushed: Loose) => {
      if (error) throw error;
      pushed.respond(onStream);
      pushed.end("pushed");
      stream.respond();
      stream.end("body");
    }),
};

/** What a client receives. An error thrown instead of a head is in the body. */
interface Received {
  status: unknown;
  heads: Field[][];
  body: string;
}

/** Responds in one of the ways. Puts an error into the body, so that it is compared. */
async function respondBy(way: Ways[string], response: Loose): Promise<void> {
  try {
    await way(response);
  } catch (error) {
    const { code, name } = error as { code?: string; name: string };
    response.end(`thrown: ${code ?? name}`);
  }
}

async function overHttp1({ headers }: Rules, way: Ways[string]): Promise<Received> {
  const guard = hedgerow({ headers });
  const { server, url } = await serve((request, response) =>
    guard(request, response, () => respondBy(way, response)),
  );
  try {
    const { status, rawHeaders, body } = await ask(url);
    return { status, heads: [pairsOf(rawHeaders)], body: `${body}` };
  } finally {
    await closed(server);
  }
}

async function overHttp2(rules: Rules, way: Ways[string]): Promise<Received> {
  const guard = hedgerow({ headers: rules.headers });
  const server = createServer((request, response) =>
    guard(request as Loose, response as Loose, () => respondBy(way, response)),
  );
  const session = connect(await listening(server));
  const heads: Field[][] = [];
  const pushed: Promise<unknown>[] = [];
  session.on("stream", (stream, promised) => {
    heads.push(Object.entries(promised));
    stream.on("push", (headers) => heads.push(Object.entries(headers)));
    pushed.push(buffer(stream));
  });
  try {
    const stream = session.request({ ":path": "/" });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    const body = `${await buffer(stream)}`;
    await Promise.all(pushed);
    heads.push(Object.entries(headers));
    return { status: headers[":status"], heads, body };
  } catch (error) {
    return { status: (error as { code: string }).code, heads, body: "" };
  } finally {
    session.destroy();
    server.close();
  }
}

/** Returns whether the value of a field varies. */
const isVarying = ([name]: Field) => isDate(name) || name === ":authority";

/** Returns a case for each way: rules change nothing but the fields that they strip. */
function casesOf(
  over: (rules: Rules, way: Ways[string]) => Promise<Received>,
  ways: Ways,
  rules = DENIED,
): Cases<void> {
  return Object.fromEntries(
    Object.entries(ways).map(([name, way]) => [
      `sends no stripped fields by ${name}`,
      async () => {
        const [stripped, whole] = await Promise.all([over(rules, way), over(NONE, way)]);
        const kept = ({ heads, ...rest }: Received) => ({
          ...rest,
          heads: heads.map((head) =>
            head.filter((field) => !rules.isStripped(field) && !isVarying(field)),
          ),
        });
        equal(stripped.heads.flat().filter(rules.isStripped), [], "stripped fields");
        // Node may refuse a name that the adapter has already stripped.
        if (whole.body.startsWith("thrown: ")) return;
        equal(kept(stripped), kept(whole));
      },
    ]),
  );
}

export const hostileResponses: Readonly<Record<string, Cases<void>>> = {
  "node:http": casesOf(overHttp1, HTTP1),
  "node:http2": casesOf(overHttp2, HTTP2),
  "node:http with an allow-list": casesOf(overHttp1, HTTP1, ALLOWED),
  "node:http2 with an allow-list": casesOf(overHttp2, HTTP2, ALLOWED),
};
