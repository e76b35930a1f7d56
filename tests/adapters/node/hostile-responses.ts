/**
 * Every way by which Node sends a head, and names and arguments that mislead what reads them before Node does.
 * These are cases: a test runs them in Node, and programs run them in every Node that is supported.
 */
import { once } from "node:events";
import { open } from "node:fs/promises";
import { connect, createServer, type IncomingHttpHeaders } from "node:http2";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { hedgerow } from "hedgerow/connect";
import type { Cases } from "../../cases/case.js";
import { equal } from "../../support/assert.js";
import { ask } from "../../support/http/ask.js";
import { pairsOf } from "../../support/http/fields.js";
import { closed, listening, serve } from "../../support/http/listen.js";

const RULES = ["x-internal-*", "x-debug", "x-token", "date"];
const NONE = ["x-no-field-is-called-so"];

/** Whether a field is internal. Node has a date of its own, and puts it where none is. */
const isInternal = ([name, value]: Field) =>
  /^x-(internal-.*|debug|token)$/i.test(name) || (isDate(name) && value === INTERNAL_DATE);
const isDate = (name: string) => /^date$/i.test(name);
const INTERNAL_DATE = "Thu, 01 Jan 1970 00:00:00 GMT";

type Field = readonly [name: string, value: unknown];

/** The Kelvin sign, whose lower case is the letter "k" of ASCII. */
const KELVIN = "\u212a";
const FILE = process.execPath;

/** Node's types have neither all that Node takes nor what it takes by mistake. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Loose = any;
type Ways = Record<string, (response: Loose) => unknown>;

const object = () => ({ "X-Kept": "1", "x-internal-token": "a7", "X-Debug": ["1", "2"] });
const inTurn = () => ["X-Kept", "1", "x-internal-token", "a7", "X-DEBUG", "1", "x-debug", "2"];
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
  "an object and an empty one": () => [object(), {}],
  "an empty object and another": () => [{}, object()],
  "two objects": () => [{ "x-debug": "1", "x-kept": "1" }, { "x-internal-token": "a7" }],
  "a reason that is an object, and an object": () => [new String("Fine"), object()],
  "names and values in turn": () => [inTurn()],
  "an empty object, and names and values in turn": () => [{}, inTurn()],
  "an empty list, and names and values in turn": () => [[], inTurn()],
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
  "an object with a name of prototypes": () => [
    Object.assign(JSON.parse('{"__proto__":"1"}'), object()),
  ],
  "fields that have no name": () => [{ "": "1", ...object() }],
  "names with white space": () => [
    { " x-internal-token": "1", "\tx-debug\u00a0": "1", "x-kept": "1" },
  ],
  "names with white space in turn": () => [[" x-internal-token\n", "1", "x-kept", "1"]],
  "names with white space in pairs": () => [
    [
      ["\ufeffx-internal-token ", "1"],
      ["x-kept", "1"],
    ],
  ],
  "names with a letter that is of ASCII in lower case": () => [
    { [`x-to${KELVIN}en`]: "1", "x-kept": "1" },
  ],
  "names with such a letter in turn": () => [["x-kept", "1", `X-TO${KELVIN}EN`, "1"]],
  "names that are objects": () => [
    [
      ["x-kept", "1"],
      [new String("x-debug"), "1"],
    ],
  ],
  "names that are objects, in turn": () => [["x-kept", "1", new String("x-debug"), "1"]],
  "names that are numbers": () => [[1, "1", "x-debug", "1"]],
  "names that are nothing": () => [[undefined, "1", "x-debug", "1"]],
  "names that are nothing, in pairs": () => [
    [
      [null, "1"],
      ["x-debug", "1"],
    ],
  ],
};

/** Those whose keys HTTP/1 takes for names, and HTTP/2 does not. */
const FUNCTIONS: Record<string, () => unknown[]> = {
  "a function with fields": () => [asFunction()],
  "an empty object and a function with fields": () => [{}, asFunction()],
};

/** What was set before the head was written. */
const BEFORE: Ways = {
  "": () => {},
  ", and others set": (response) => {
    response.setHeader("X-Internal-Other", "1");
    response.setHeader("x-also", "1");
    response.setHeader("Date", INTERNAL_DATE);
  },
};

/** A way for each kind of arguments, after nothing and after something. */
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

/** Sets fields one by one, with names that Node refuses or changes. */
const set = (response: Loose) => {
  for (const name of ["x-kept", "x-debug", "X-Internal-Token"]) response.setHeader(name, "1");
  for (const name of [" x-internal-token", `x-to${KELVIN}en`]) {
    try {
      response.setHeader(name, "1");
      response.appendHeader(name, "2");
    } catch {
      // Node's answer over HTTP/1.
    }
  }
  return response;
};

/** Ways that both of Node's servers have. */
const BOTH: Ways = {
  ...headsOf(ARGUMENTS),
  "a head that end implies": (response) => set(response).end(),
  "a head that end with a body implies": (response) => set(response).end("body"),
  "a head that write implies": (response) => {
    set(response).write("bo");
    response.end("dy");
  },
  "a head that a pipe implies": (response) => void Readable.from(["body"]).pipe(set(response)),
  "a head that is flushed": (response) => {
    set(response).flushHeaders();
    response.end();
  },
  "a head after which another is written": (response) => {
    set(response).writeHead(200);
    response.writeHead(200, object());
    response.end();
  },
  "a head that a wrapper writes": (response) => {
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
  "the head that Node itself implies": (response) => {
    set(response)._implicitHeader();
    response.end();
  },
  "setHeaders with a Map": (response) =>
    response.setHeaders(new Map(Object.entries(object()))).end("body"),
  "setHeaders with Headers": (response) =>
    response.setHeaders(new Headers({ "x-debug": "1", "x-kept": "1" })).end("body"),
  appendHeader: (response) =>
    response.appendHeader("x-debug", "1").appendHeader("X-Debug", ["2"]).end("body"),
};

const onStream = { ":status": 203, ...object(), [`x-to${KELVIN}en`]: "1" };

const HTTP2: Ways = {
  ...BOTH,
  "a head that the stream sends": ({ stream }) => {
    stream.respond(onStream);
    stream.end("body");
  },
  "a head in turn that the stream sends": ({ stream }) => {
    // Only newer ones take lists.
    const fields = [":status", 203, ...inTurn(), `x-to${KELVIN}en`, "1"];
    try {
      stream.respond(fields);
    } catch {
      stream.respond(onStream);
    }
    stream.end("body");
  },
  "a head that was set, and that the stream sends": (response) => {
    set(response).stream.respond();
    response.end();
  },
  "a head that write to the stream implies": (response) => {
    set(response).stream.end("body");
  },
  "a file": ({ stream }) => stream.respondWithFile(FILE, onStream, { length: 9 }),
  "a file, after its statCheck": ({ stream }) =>
    stream.respondWithFile(FILE, onStream, {
      length: 9,
      statCheck: (_stat: unknown, fields: Loose) => void Object.assign(fields, object()),
    }),
  "an open file": async ({ stream }) => {
    const file = await open(FILE);
    stream.on("close", () => file.close());
    stream.respondWithFD(file, onStream, { length: 9 });
  },
  "an open file, after its statCheck": async ({ stream }) => {
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
  "a file that is not there": ({ stream }) =>
    stream.respondWithFile("/no/such/file", onStream, {
      onError: () => stream.respond({ ":status": 404, ...object() }, { endStream: true }),
    }),
  "a response that is pushed": (response) =>
    response.createPushResponse({ ":path": "/a", ...object() }, (error: unknown, pushed: Loose) => {
      if (error) throw error;
      set(pushed).writeHead(200, object());
      pushed.end("pushed");
      response.end("body");
    }),
  "a stream that is pushed": ({ stream }) =>
    stream.pushStream({ ":path": "/a", ...object() }, (error: unknown, pushed: Loose) => {
      if (error) throw error;
      pushed.respond(onStream);
      pushed.end("pushed");
      stream.respond();
      stream.end("body");
    }),
};

/** What a client is told, with what was thrown in the place of a head in its body. */
interface Told {
  status: unknown;
  heads: Field[][];
  body: string;
}

/** Answers in one of the ways. What is thrown is the answer, so that it is compared. */
async function answerBy(way: Ways[string], response: Loose): Promise<void> {
  try {
    await way(response);
  } catch (error) {
    const { code, name } = error as { code?: string; name: string };
    response.end(`thrown: ${code ?? name}`);
  }
}

async function overHttp1(rules: string[], way: Ways[string]): Promise<Told> {
  const guard = hedgerow({ headers: rules });
  const { server, url } = await serve((request, response) =>
    guard(request, response, () => answerBy(way, response)),
  );
  try {
    const { status, rawHeaders, body } = await ask(url);
    return { status, heads: [pairsOf(rawHeaders)], body: `${body}` };
  } finally {
    await closed(server);
  }
}

async function overHttp2(rules: string[], way: Ways[string]): Promise<Told> {
  const guard = hedgerow({ headers: rules });
  const server = createServer((request, response) =>
    guard(request as Loose, response as Loose, () => answerBy(way, response)),
  );
  const session = connect(await listening(server));
  const heads: Field[][] = [];
  const pushed: Promise<unknown>[] = [];
  session.on("stream", (stream, promised) => {
    heads.push(Object.entries(promised));
    stream.on("push", (answered) => heads.push(Object.entries(answered)));
    pushed.push(buffer(stream));
  });
  try {
    const stream = session.request({ ":path": "/" });
    const [answered] = (await once(stream, "response")) as [IncomingHttpHeaders];
    const body = `${await buffer(stream)}`;
    await Promise.all(pushed);
    heads.push(Object.entries(answered));
    return { status: answered[":status"], heads, body };
  } catch (error) {
    return { status: (error as { code: string }).code, heads, body: "" };
  } finally {
    session.destroy();
    server.close();
  }
}

/** Whether a field is another one each time. */
const isOwn = ([name]: Field) => isDate(name) || name === ":authority";

/** A case for each way: with rules, the same is told as without, but for what is internal. */
function casesOf(
  over: (rules: string[], way: Ways[string]) => Promise<Told>,
  ways: Ways,
): Cases<void> {
  return Object.fromEntries(
    Object.entries(ways).map(([what, way]) => [
      `sends nothing internal by ${what}`,
      async () => {
        const [stripped, whole] = await Promise.all([over(RULES, way), over(NONE, way)]);
        const kept = ({ heads, ...told }: Told) => ({
          ...told,
          heads: heads.map((head) => head.filter((field) => !isInternal(field) && !isOwn(field))),
        });
        equal(stripped.heads.flat().filter(isInternal), [], "internal fields");
        // A name that Node refuses may be one that goes before Node sees it.
        if (whole.body.startsWith("thrown: ")) return;
        equal(kept(stripped), kept(whole));
      },
    ]),
  );
}

export const hostileResponses: Readonly<Record<string, Cases<void>>> = {
  "node:http": casesOf(overHttp1, HTTP1),
  "node:http2": casesOf(overHttp2, HTTP2),
};
