/** Test cases of `hedgerow/slim` before and after `instantiate`. Run them in this order, once per runtime. */
import {
  HeaderStripper,
  HedgerowError,
  type HedgerowErrorCode,
  instantiate,
  PathFilter,
  PathSet,
} from "hedgerow/slim";
import { equal, thrownBy } from "../support/assert.js";
import { bytesOf } from "../support/text.js";
import type { Cases } from "./case.js";
import { PATHMAP } from "./paths/files.js";

/** Properties of the runtime that these cases use. */
export interface SlimRuntime {
  /** The module, or its bytes. */
  readonly module: WebAssembly.Module | BufferSource;
}

/** Asserts that `call` throws an error with this code, whose message contains `part`. */
function fails(call: () => unknown, code: HedgerowErrorCode, part: string): void {
  const error = thrownBy(call);
  if (!(error instanceof HedgerowError)) throw new Error(`found ${error}`, { cause: error });
  equal(error.code, code, error.message);
  equal(error.message.includes(part), true, error.message);
}

export const slim: Cases<SlimRuntime> = {
  "hedgerow/slim refuses calls that need the module before instantiate": () => {
    const uses = [() => new HeaderStripper(["x-a"]), () => PathFilter.parse(PATHMAP)];
    for (const use of uses) fails(use, "ERR_NOT_INSTANTIATED", "call instantiate()");
  },

  "PathSet works without the module": () => {
    equal(new PathSet(["/a"]).has("/a"), true);
  },

  "instantiate refuses anything but the module": () => {
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    for (const bytes of [empty, new Uint8Array(), bytesOf("<!doctype html>")]) {
      fails(() => instantiate(bytes), "ERR_MODULE", "expected ");
    }
    for (const other of [undefined, null, 5, "text", Symbol("module"), [], {}, () => {}]) {
      fails(() => instantiate(other as Uint8Array<ArrayBuffer>), "ERR_MODULE", "expected ");
    }
    fails(() => new HeaderStripper(["x-a"]), "ERR_NOT_INSTANTIATED", "call instantiate()");
  },

  "hedgerow/slim works after instantiate": ({ module }) => {
    instantiate(module);
    using stripper = new HeaderStripper(["x-internal-*"]);
    equal(stripper.matches("X-Internal-User"), true);
    equal(stripper.stripRaw(["X-Internal-User", "a", "accept", "b"]), ["accept", "b"]);
    using filter = PathFilter.parse(PATHMAP);
    equal([filter.has("/foo"), filter.has("/bar")], [true, false]);
  },

  "a second call of instantiate changes nothing": ({ module }) => {
    using stripper = new HeaderStripper(["x-a"]);
    instantiate(module);
    equal([stripper.matches("x-a"), stripper.matches("x-b")], [true, false]);
  },
};
