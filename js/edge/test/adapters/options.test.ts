/** Options that are wrong: each adapter refuses them when it is made, and says why. */
import Fastify from "fastify";
import { guardPaths, HeaderStripper, type HedgerowErrorCode, preset } from "hedgerow";
import { hedgerow as connect } from "hedgerow/connect";
import { hedgerow as fastify } from "hedgerow/fastify";
import { hedgerow as hono } from "hedgerow/hono";
import { hedgerow as undici } from "hedgerow/undici";
import { hedgerow as workers } from "hedgerow/workers";
import { describe, expect, test } from "vitest";
import { isRefusal, thrownBy } from "../../../../tests/support/assert.js";

/** A stripper after its end. */
function freed(): HeaderStripper {
  const stripper = new HeaderStripper(["x-a"]);
  stripper.free();
  return stripper;
}

type Wrong = [what: string, options: unknown, code: HedgerowErrorCode, ...parts: string[]];

/** Wrong by themselves, whatever else there is. */
const NO_OPTIONS: Wrong[] = [
  ["no options", undefined, "ERR_OPTIONS", "expected options", "found undefined"],
  ["null", null, "ERR_OPTIONS", "expected options", "found null"],
  ["a list", ["x-a"], "ERR_OPTIONS", "expected options", "found an array"],
  ["a text", "x-a", "ERR_OPTIONS", "expected options", "found string"],
  ["an inherited one", Object.create({ methods: 7 }), "ERR_OPTIONS", "methods: ", "found number"],
];

const NOTHING_TO_DO: Wrong[] = [
  ["nothing to do", {}, "ERR_OPTIONS", "expected headers, paths, or both", "found neither"],
  ["headers undefined", { headers: undefined }, "ERR_OPTIONS", "found neither"],
];

const WRONG_HEADERS: Wrong[] = [
  ["headers null", { headers: null }, "ERR_OPTIONS", "headers: expected rules", "found null"],
  ["headers a text", { headers: "x-a" }, "ERR_OPTIONS", "headers: expected rules", "found string"],
  ["headers a function", { headers: () => [] }, "ERR_OPTIONS", "headers: ", "found function"],
  ["headers of neither", { headers: {} }, "ERR_OPTIONS", "headers: expected requests", "neither"],
  ["an unknown direction", { headers: { request: [] } }, "ERR_OPTIONS", "headers: ", '"request"'],
  [
    "requests a text",
    { headers: { requests: "x" } },
    "ERR_OPTIONS",
    "headers: requests: ",
    "string",
  ],
  [
    "responses null",
    { headers: { responses: null } },
    "ERR_OPTIONS",
    "headers: responses: ",
    "null",
  ],
  [
    "requests an object",
    { headers: { requests: {} } },
    "ERR_OPTIONS",
    "requests: ",
    "found object",
  ],
  ["a rule that is none", { headers: ["x-a", "a b"] }, "ERR_HEADER_RULE", "rule 1", '"a b"'],
  ["a lone star", { headers: { responses: ["*"] } }, "ERR_HEADER_RULE", "rule 0"],
  ["a freed stripper", { headers: freed() }, "ERR_FREED", "HeaderStripper was used after free()"],
  ["a rule that is no text", { headers: [7] }, "ERR_ARGUMENT", "rule 0", "found number"],
];

const WRONG_PATHS: Wrong[] = [
  ["paths a number", { paths: 7 }, "ERR_OPTIONS", "paths: expected a filter", "found number"],
  ["paths null", { paths: null }, "ERR_OPTIONS", "paths: ", "found null"],
  ["paths a list", { paths: ["/a"] }, "ERR_OPTIONS", "paths: ", "found an array"],
  [
    "paths a set of JavaScript",
    { paths: new Set(["/a"]) },
    "ERR_OPTIONS",
    "paths: ",
    "found object",
  ],
  ["methods a text", { methods: "GET" }, "ERR_OPTIONS", "methods: expected a list", "found string"],
  ["methods no texts", { methods: [7] }, "ERR_OPTIONS", "methods: ", "found an array"],
  ["normalize a text", { normalize: "x" }, "ERR_OPTIONS", "normalize: expected a function"],
  ["onError null", { onError: null }, "ERR_OPTIONS", "onError: expected a function", "found null"],
  ["an unknown option", { header: [] }, "ERR_OPTIONS", 'found an option "header"', "paths"],
  ["an option of all objects", { toString: 1 }, "ERR_OPTIONS", 'found an option "toString"'],
];

const NOT_FOUND: Wrong = [
  "notFound a text",
  { notFound: "x" },
  "ERR_OPTIONS",
  "notFound: ",
  "string",
];

/** What is right besides, so that only one option is wrong. */
const RIGHT = { headers: ["x-a"], paths: () => true };

interface Adapter {
  make: (options: never) => unknown;
  /** What is wrong alone. */
  alone: Wrong[];
  /** What is wrong alone, and among options that are right. */
  wrong: Wrong[];
}

const most = {
  alone: [...NO_OPTIONS, ...NOTHING_TO_DO],
  wrong: [...WRONG_HEADERS, ...WRONG_PATHS, NOT_FOUND],
};

const ADAPTERS: Record<string, Adapter> = {
  "hedgerow/workers": { ...most, make: (options) => workers(options) },
  "hedgerow/hono": { ...most, make: (options) => hono(options) },
  "hedgerow/connect": { ...most, make: (options) => connect(options) },
  "hedgerow/fastify": {
    ...most,
    // Fastify makes options of none.
    alone: NOTHING_TO_DO,
    make: async (options) => {
      await Fastify().register(fastify, options);
    },
  },
  "hedgerow/undici": {
    make: (options) => undici(options),
    alone: most.alone,
    wrong: [
      ...[...WRONG_HEADERS, ...WRONG_PATHS],
      ["notFound", { notFound: () => {} }, "ERR_OPTIONS", 'found an option "notFound"'],
    ],
  },
  guardPaths: {
    make: (options) => guardPaths(options),
    alone: [...NO_OPTIONS, ["no paths", {}, "ERR_OPTIONS", "expected paths", "found none"]],
    wrong: [...WRONG_PATHS, NOT_FOUND],
  },
};

/** What making an adapter throws, at once or by a promise. */
async function refusalOf(make: () => unknown): Promise<unknown> {
  try {
    await make();
  } catch (error) {
    return error;
  }
  throw new Error("expected an error, found none");
}

describe.each(Object.entries(ADAPTERS))("%s refuses", (name, { make, alone, wrong }) => {
  test.each([...alone, ...wrong])("%s", async (_what, options, code, ...parts) => {
    const error = await refusalOf(() => make(options as never));
    isRefusal(error, code, ...parts);
    // Rules are told apart by their own messages.
    if (code === "ERR_OPTIONS") isRefusal(error, code, name);
  });

  test.each(wrong)("%s among options that are right", async (_what, options, code, ...parts) => {
    const { headers, ...rest } = RIGHT;
    const right = name === "guardPaths" ? rest : { headers, ...rest };
    const given = { ...right, ...(options as object) };
    isRefusal(await refusalOf(() => make(given as never)), code, ...parts);
  });
});

test("guardPaths has no headers", () => {
  const error = thrownBy(() => guardPaths(RIGHT as never));
  isRefusal(error, "ERR_OPTIONS", 'found an option "headers"');
});

test("rules for requests leave what frames a body, or are refused", () => {
  for (const name of ["content-length", "Transfer-Encoding", "content-*", "t*"]) {
    for (const headers of [["x-a", name], { requests: [name] }, new HeaderStripper([name])]) {
      for (const make of [workers, hono, connect, undici]) {
        const error = thrownBy(() => make({ headers }));
        isRefusal(error, "ERR_OPTIONS", "headers: expected no rule that matches ", " in requests");
      }
    }
    // Whoever sends a response frames it.
    expect(connect({ headers: { responses: [name] } })).toBeTypeOf("function");
  }
  const reframed = preset("hop-by-hop-reframed");
  isRefusal(
    thrownBy(() => connect({ headers: reframed })),
    "ERR_OPTIONS",
    "transfer-encoding",
  );
  expect(connect({ headers: [...preset("hop-by-hop"), "content-type", "host"] })).toBeTruthy();
});

test("a handler has a function fetch, or is refused", () => {
  for (const handler of [{}, { fetch: "x" }, class {}, () => new Response()]) {
    const error = thrownBy(() => workers({ headers: ["x-a"] }, handler as never));
    isRefusal(error, "ERR_OPTIONS", "hedgerow/workers", "a handler with a function fetch");
  }
});

test("options that are undefined are as those that are not there", () => {
  const none = {
    methods: undefined,
    normalize: undefined,
    onError: undefined,
    notFound: undefined,
  };
  const options = {
    ...none,
    headers: { requests: ["x-a"], responses: undefined },
    paths: undefined,
  };
  for (const make of [workers, hono, connect]) expect(make(options as never)).toBeTruthy();
});

test("options of Fastify's register are not for the plugin", async () => {
  const app = Fastify();
  await app.register(fastify, { headers: ["x-a"], prefix: "/p", logLevel: "warn" } as never);
  await app.ready();
});
