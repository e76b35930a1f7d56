/** Test cases of `hedgerow/slim` before and after `instantiate`. Run them in this order, once per runtime. */
import {
  HeaderStripper,
  HedgerowError,
  type HedgerowErrorCode,
  instantiate,
  type Modules,
  PathFilter,
  PathSet,
  stripBlock,
} from "hedgerow/slim";
import { equal, thrownBy } from "../support/assert.js";
import { bytesOf, textOf } from "../support/text.js";
import type { Cases } from "./case.js";
import { PATHMAP } from "./paths/files.js";

/** Properties of the runtime that these cases use. */
export interface SlimRuntime {
  /** All modules, or their bytes. */
  readonly modules: Required<Modules>;
}

/** Asserts that `call` throws an error with this code, whose message contains `part`. */
function fails(call: () => unknown, code: HedgerowErrorCode, part: string): void {
  const error = thrownBy(call);
  if (!(error instanceof HedgerowError)) throw new Error(`found ${error}`, { cause: error });
  equal(error.code, code, error.message);
  equal(error.message.includes(part), true, error.message);
}

export const slim: Cases<SlimRuntime> = {
  "hedgerow/slim refuses calls that need a module before instantiate": () => {
    using stripper = new HeaderStripper(["x-a"]);
    const uses = [
      () => stripBlock(stripper, bytesOf("x-a: 1\r\n")),
      () => PathFilter.parse(PATHMAP),
    ];
    for (const use of uses) fails(use, "ERR_NOT_INSTANTIATED", "call instantiate()");
  },

  "PathSet and HeaderStripper work without a module": () => {
    equal(new PathSet(["/a"]).has("/a"), true);
    using stripper = new HeaderStripper(["x-a"]);
    equal(stripper.stripRaw(["X-A", "1", "accept", "2"]), ["accept", "2"]);
  },

  "instantiate refuses anything but the module of that name": ({ modules }) => {
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    const others = [undefined, null, 5, "text", Symbol("module"), [], {}, () => {}];
    const bytes = [empty, new Uint8Array(), bytesOf("<!doctype html>"), modules.block];
    for (const other of [...others, ...bytes]) {
      const given = { paths: other as Uint8Array<ArrayBuffer> };
      fails(() => instantiate(given), "ERR_MODULE", "expected ");
    }
    fails(() => PathFilter.parse(PATHMAP), "ERR_NOT_INSTANTIATED", "call instantiate()");
  },

  "instantiate refuses an object without modules, and other names": ({ modules }) => {
    for (const other of [undefined, null, 5, "text", [], {}, { ...modules, edge: modules.paths }]) {
      fails(() => instantiate(other as Modules), "ERR_ARGUMENT", "expected ");
    }
    fails(() => PathFilter.parse(PATHMAP), "ERR_NOT_INSTANTIATED", "call instantiate()");
  },

  "each part of hedgerow/slim needs only its own module": ({ modules }) => {
    instantiate({ paths: modules.paths });
    using filter = PathFilter.parse(PATHMAP);
    equal(filter.has("/foo"), true);
    using stripper = new HeaderStripper(["x-a"]);
    fails(() => stripBlock(stripper, new Uint8Array()), "ERR_NOT_INSTANTIATED", "block.wasm");
  },

  "hedgerow/slim works after instantiate": ({ modules }) => {
    instantiate(modules);
    using stripper = new HeaderStripper(["x-internal-*"]);
    equal(textOf(stripBlock(stripper, bytesOf("x-internal-a: 1\r\nb: 2\r\n"))), "b: 2\r\n");
    equal(stripper.matches("X-Internal-User"), true);
    equal(stripper.stripRaw(["X-Internal-User", "a", "accept", "b"]), ["accept", "b"]);
    using filter = PathFilter.parse(PATHMAP);
    equal([filter.has("/foo"), filter.has("/bar")], [true, false]);
  },

  "a second call of instantiate changes nothing": ({ modules }) => {
    using stripper = new HeaderStripper(["x-a"]);
    instantiate(modules);
    equal([stripper.matches("x-a"), stripper.matches("x-b")], [true, false]);
  },
};
