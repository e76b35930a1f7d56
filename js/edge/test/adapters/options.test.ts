/** Invalid options: each adapter refuses them when it is created. */
import Fastify from "fastify";
import { guardPaths, HeaderStripper, type HedgerowErrorCode, preset } from "hedgerow";
import { hedgerow as connect } from "hedgerow/connect";
import { hedgerow as fastify } from "hedgerow/fastify";
import { hedgerow as hono } from "hedgerow/hono";
import { hedgerow as undici } from "hedgerow/undici";
import { hedgerow as workers } from "hedgerow/workers";
import { describe, expect, test } from "vitest";
import { isRefusal, thrownBy } from "../../../../tests/support/assert.js";

/** Returns a freed stripper. */
function freed(): HeaderStripper {
  const stripper = new HeaderStripper(["x-a"]);
  stripper.free();
  return stripper;
}

type Wrong = [what: string, options: unknown, code: HedgerowErrorCode, ...parts: string[]];

/** Values that are not options. */
const NO_OPTIONS: Wrong[] = [
  ["no options", undefined, "ERR_OPTIONS", "expected options", "found undefined"],
  ["null", null, "ERR_OPTIONS", "expected options", "found null"],
  ["a list", ["x-a"], "ERR_OPTIONS", "expected options", "found an array"],
  ["a string", "x-a", "ERR_OPTIONS", "expected options", "found string"],
  [
    "an inherited option",
    Object.create({ methods: 7 }),
    "ERR_OPTIONS",
    "methods: ",
    "found number",
  ],
];

const NOTHING_TO_DO: Wrong[] = [
  ["nothing to do", {}, "ERR_OPTIONS", "expected headers, paths, or both", "found neither"],
  ["headers undefined", { headers: undefined }, "ERR_OPTIONS", "found neither"],
];

const WRONG_HEADERS: Wrong[] = [
  ["headers null", { headers: null }, "ERR_OPTIONS", "headers: expected rules", "found null"],
  [
    "headers a string",
    { headers: "x-a" },
    "ERR_OPTIONS",
    "headers: expected rules",
    "found string",
  ],
  ["headers a function", { headers: () => [] }, "ERR_OPTIONS", "headers: ", "found function"],
  [
    "headers without a direction",
    { headers: {} },
    "ERR_OPTIONS",
    "headers: expected requests",
    "neither",
  ],
  ["an unknown direction", { headers: { request: [] } }, "ERR_OPTIONS", "headers: ", '"request"'],
  [
    "requests a string",
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
  ["an invalid rule", { headers: ["x-a", "a b"] }, "ERR_HEADER_RULE", "rule 1", '"a b"'],
  ["a lone asterisk", { headers: { responses: ["*"] } }, "ERR_HEADER_RULE", "rule 0"],
  ["keep a string", { headers: { keep: "x-a" } }, "ERR_OPTIONS", "headers: keep: ", "string"],
  [
    "keep of responses null",
    { headers: { responses: { keep: null } } },
    "ERR_OPTIONS",
    "headers: keep: expected rules",
    "null",
  ],
  [
    "keep beside requests",
    { headers: { keep: ["x-a"], requests: ["x-b"] } },
    "ERR_OPTIONS",
    "headers: expected keep",
    '"requests"',
  ],
  ["keep undefined", { headers: { keep: undefined } }, "ERR_ARGUMENT", "expected a list of rules"],
  ["an invalid rule to keep", { headers: { keep: ["a b"] } }, "ERR_HEADER_RULE", '"a b"'],
  ["a freed stripper", { headers: freed() }, "ERR_FREED", "HeaderStripper was used after free()"],
  ["a rule that is not a string", { headers: [7] }, "ERR_ARGUMENT", "rule 0", "found number"],
];

const WRONG_PATHS: Wrong[] = [
  ["paths a number", { paths: 7 }, "ERR_OPTIONS", "paths: expected a filter", "found number"],
  ["paths null", { paths: null }, "ERR_OPTIONS", "paths: ", "found null"],
  ["paths a list", { paths: ["/a"] }, "ERR_OPTIONS", "paths: ", "found an array"],
  ["paths a JavaScript Set", { paths: new Set(["/a"]) }, "ERR_OPTIONS", "paths: ", "found object"],
  [
    "methods a string",
    { methods: "GET" },
    "ERR_OPTIONS",
    "methods: expected a list",
    "found string",
  ],
  ["methods of numbers", { methods: [7] }, "ERR_OPTIONS", "methods: ", "found an array"],
  ["normalize a string", { normalize: "x" }, "ERR_OPTIONS", "normalize: expected a function"],
  ["onError null", { onError: null }, "ERR_OPTIONS", "onError: expected a function", "found null"],
  ["an unknown option", { header: [] }, "ERR_OPTIONS", 'found an option "header"', "paths"],
  ["an option of all objects", { toString: 1 }, "ERR_OPTIONS", 'found an option "toString"'],
];

const WRONG_REPORTS: Wrong[] = [
  ["dryRun a string", { dryRun: "no" }, "ERR_OPTIONS", "dryRun: expected true or false", "string"],
  ["dryRun null", { dryRun: null }, "ERR_OPTIONS", "dryRun: ", "found null"],
  ["report true", { report: true }, "ERR_OPTIONS", "report: expected a function", "found boolean"],
  ["trust a list", { trust: ["10.0.0.1"] }, "ERR_OPTIONS", "trust: expected a function", "array"],
];

const NOT_FOUND: Wrong = [
  "notFound a string",
  { notFound: "x" },
  "ERR_OPTIONS",
  "notFound: ",
  "string",
];

/** Valid options, so that only one option is invalid. */
const RIGHT = { headers: ["x-a"], paths: () => true };

interface Adapter {
  make: (options: never) => unknown;
  /** Invalid if passed alone. */
  alone: Wrong[];
  /** Invalid if passed alone or among valid options. */
  wrong: Wrong[];
}

const common = {
  alone: [...NO_OPTIONS, ...NOTHING_TO_DO],
  wrong: [...WRONG_HEADERS, ...WRONG_PATHS, ...WRONG_REPORTS, NOT_FOUND],
};

const ADAPTERS: Record<string, Adapter> = {
  "hedgerow/workers": { ...common, make: (options) => workers(options) },
  "hedgerow/hono": { ...common, make: (options) => hono(options) },
  "hedgerow/connect": { ...common, make: (options) => connect(options) },
  "hedgerow/fastify": {
    ...common,
    // Fastify passes an empty object if there are no options.
    alone: NOTHING_TO_DO,
    make: async (options) => {
      await Fastify().register(fastify, options);
    },
  },
  "hedgerow/undici": {
    make: (options) => undici(options),
    alone: common.alone,
    wrong: [
      ...[...WRONG_HEADERS, ...WRONG_PATHS, ...WRONG_REPORTS],
      ["notFound", { notFound: () => {} }, "ERR_OPTIONS", 'found an option "notFound"'],
    ],
  },
  guardPaths: {
    make: (options) => guardPaths(options),
    alone: [...NO_OPTIONS, ["no paths", {}, "ERR_OPTIONS", "expected paths", "found none"]],
    wrong: [...WRONG_PATHS, NOT_FOUND],
  },
};

/** Returns the error that creating an adapter throws or rejects with. */
async function refusalOf(make: () => unknown): Promise<unknown> {
  try {
    await make();
  } catch (error) {
    return error;
  }
  throw new Error("expected an error, found none");
}

describe.each(Object.entries(ADAPTERS))("%s", (name, { make, alone, wrong }) => {
  test.each([...alone, ...wrong])(
    "refuses invalid options: %s",
    async (_what, options, code, ...parts) => {
      const error = await refusalOf(() => make(options as never));
      isRefusal(error, code, ...parts);
      // Errors of rules do not name the adapter.
      if (code === "ERR_OPTIONS") isRefusal(error, code, name);
    },
  );

  test.each(wrong)(
    "refuses invalid options among valid ones: %s",
    async (_what, options, code, ...parts) => {
      const { headers, ...rest } = RIGHT;
      const right = name === "guardPaths" ? rest : { headers, ...rest };
      const given = { ...right, ...(options as object) };
      isRefusal(await refusalOf(() => make(given as never)), code, ...parts);
    },
  );
});

test("guardPaths refuses the options of adapters that it does not have", () => {
  for (const name of ["headers", "dryRun", "report", "trust"]) {
    const error = thrownBy(() => guardPaths({ paths: RIGHT.paths, [name]: undefined } as never));
    isRefusal(error, "ERR_OPTIONS", `found an option "${name}"`);
  }
});

test("adapters refuse rules for requests that match framing fields", () => {
  for (const name of ["content-length", "Transfer-Encoding", "content-*", "t*"]) {
    for (const headers of [["x-a", name], { requests: [name] }, new HeaderStripper([name])]) {
      for (const make of [workers, hono, connect, undici]) {
        const error = thrownBy(() => make({ headers }));
        isRefusal(error, "ERR_OPTIONS", "headers: expected no rule that matches ", " in requests");
      }
    }
    // The sender of a response frames it.
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

test("adapters accept allow-lists, which keep the framing of requests", () => {
  const stripper = new HeaderStripper(["x-a"], { mode: "keep" });
  for (const rules of [{ keep: [] }, { keep: new Set(["content-length", "t*"]) }, stripper]) {
    for (const headers of [rules, { requests: rules }, { requests: ["x-b"], responses: rules }]) {
      for (const make of [workers, hono, connect, undici]) {
        expect(make({ headers })).toBeTruthy();
      }
    }
  }
});

test("hedgerow/workers refuses a handler without a function fetch", () => {
  for (const handler of [{}, { fetch: "x" }, class {}, () => new Response()]) {
    const error = thrownBy(() => workers({ headers: ["x-a"] }, handler as never));
    isRefusal(error, "ERR_OPTIONS", "hedgerow/workers", "a handler with a function fetch");
  }
});

test("adapters treat undefined options as missing", () => {
  const none = {
    methods: undefined,
    normalize: undefined,
    onError: undefined,
    notFound: undefined,
    dryRun: undefined,
    report: undefined,
    trust: undefined,
  };
  const options = {
    ...none,
    headers: { requests: ["x-a"], responses: undefined },
    paths: undefined,
  };
  for (const make of [workers, hono, connect]) expect(make(options as never)).toBeTruthy();
});

test("hedgerow/fastify ignores the options of register", async () => {
  const app = Fastify();
  await app.register(fastify, { headers: ["x-a"], prefix: "/p", logLevel: "warn" } as never);
  await app.ready();
});
