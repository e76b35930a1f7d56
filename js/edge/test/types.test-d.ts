import type { IncomingMessage } from "node:http";
import * as hedgerow from "hedgerow";
import {
  HeaderStripper,
  type HeaderStripperOptions,
  type HedgerowError,
  type HedgerowErrorCode,
  type PresetDirection,
  type PresetName,
} from "hedgerow";
import { stripBlock } from "hedgerow/block";
import type { AdapterReport, ConnectOptions, RefusalReport, StripReport } from "hedgerow/connect";
import type { WorkersOptions } from "hedgerow/workers";
import { expectTypeOf, test } from "vitest";

/** The documented interface of a stripper. */
interface DocumentedStripper {
  matches(name: string): boolean;
  strips(name: string): boolean;
  strip(headers: Headers): number;
  stripRaw(rawHeaders: readonly string[]): string[];
  free(): void;
  [Symbol.dispose](): void;
}

test("a HeaderStripper has the documented methods and no others", () => {
  expectTypeOf<Pick<HeaderStripper, keyof HeaderStripper>>().toEqualTypeOf<DocumentedStripper>();
});

test("stripBlock takes a stripper and bytes, and returns bytes", () => {
  expectTypeOf(stripBlock).toEqualTypeOf<
    (stripper: HeaderStripper, block: Uint8Array) => Uint8Array
  >();
});

test("a HeaderStripper is constructed from any iterable of strings, and options", () => {
  expectTypeOf(HeaderStripper).constructorParameters.toEqualTypeOf<
    [rules: Iterable<string>, options?: HeaderStripperOptions | undefined]
  >();
  expectTypeOf<HeaderStripperOptions["mode"]>().toEqualTypeOf<"strip" | "keep" | undefined>();
  expectTypeOf(HeaderStripper).instance.toEqualTypeOf<HeaderStripper>();
  // @ts-expect-error: rules are required
  new HeaderStripper();
  // @ts-expect-error: rules are strings
  new HeaderStripper([/x-.*/]);
});

test("a HeaderStripper can be declared with using", () => {
  expectTypeOf<HeaderStripper>().toExtend<Disposable>();
});

test("a HedgerowError is an Error with a read-only code", () => {
  expectTypeOf<HedgerowError>().toExtend<Error>();
  expectTypeOf<HedgerowError["code"]>().toExtend<string>();
  expectTypeOf<Pick<HedgerowError, "code">>().toEqualTypeOf<{ readonly code: HedgerowErrorCode }>();
  expectTypeOf<HedgerowErrorCode>().toEqualTypeOf<
    | "ERR_HEADER_RULE"
    | "ERR_FIELD_BLOCK"
    | "ERR_CONNECTION_OPTION"
    | "ERR_FILTER_FORMAT"
    | "ERR_FILTER_MERGE"
    | "ERR_FILTER_RESPONSE"
    | "ERR_FILTER_TIMEOUT"
    | "ERR_PATH_SET"
    | "ERR_ARGUMENT"
    | "ERR_FREED"
    | "ERR_MODULE"
    | "ERR_NOT_INSTANTIATED"
    | "ERR_OPTIONS"
  >();
});

test("preset returns a list of rules for a known name", () => {
  expectTypeOf(hedgerow.preset).toEqualTypeOf<
    (name: PresetName, direction?: PresetDirection) => string[]
  >();
  expectTypeOf<PresetDirection>().toEqualTypeOf<"requests" | "responses">();
  expectTypeOf<PresetName>().toEqualTypeOf<
    "hop-by-hop" | "hop-by-hop-reframed" | "cloudflare" | "vercel" | "next"
  >();
});

test("the package exports exactly the documented names", () => {
  expectTypeOf<keyof typeof hedgerow>().toEqualTypeOf<
    | "HeaderStripper"
    | "HedgerowError"
    | "PathFilter"
    | "PathFilterBuilder"
    | "PathFilterStore"
    | "PathSet"
    | "buildPathFilter"
    | "canExist"
    | "explainField"
    | "guardPaths"
    | "measurePathFilter"
    | "mergePathFilters"
    | "normalizePath"
    | "preset"
  >();
});

test("a filter is read from bytes, a string, a response or a stream", () => {
  expectTypeOf(hedgerow.PathFilter.parse)
    .parameter(0)
    .toEqualTypeOf<Uint8Array | ArrayBuffer | string>();
  expectTypeOf(hedgerow.PathFilter.load)
    .parameter(0)
    .toEqualTypeOf<Response | ReadableStream<Uint8Array>>();
  expectTypeOf<hedgerow.PathFilter>().toExtend<hedgerow.PathLookup & Disposable>();
  expectTypeOf<hedgerow.PathSet>().toExtend<hedgerow.PathLookup & Disposable>();
});

test("reports of adapters are told apart by their kind", () => {
  expectTypeOf<Extract<AdapterReport, { kind: "strip" }>>().toEqualTypeOf<StripReport>();
  expectTypeOf<Extract<AdapterReport, { kind: "refuse" }>>().toEqualTypeOf<RefusalReport>();
  expectTypeOf<StripReport["names"]>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<AdapterReport["path"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<RefusalReport["direction"]>().toEqualTypeOf<"requests">();
});

test("report, dryRun and trust are optional, and trust takes the request of its framework", () => {
  expectTypeOf<ConnectOptions["dryRun"]>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<NonNullable<ConnectOptions["report"]>>().toEqualTypeOf<
    (report: AdapterReport) => void
  >();
  expectTypeOf<NonNullable<ConnectOptions["trust"]>>().toEqualTypeOf<
    (request: IncomingMessage) => boolean
  >();
  expectTypeOf<NonNullable<WorkersOptions["trust"]>>().toEqualTypeOf<
    (request: Request) => boolean
  >();
  // @ts-expect-error: a promise is not awaited
  ({ headers: [], trust: async () => true }) satisfies ConnectOptions;
});
