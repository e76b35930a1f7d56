import {
  buildPathFilter,
  measurePathFilter,
  mergePathFilters,
  PathFilter,
  PathFilterBuilder,
  PathFilterStore,
} from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import { textOf } from "../../support/text.js";
import type { Cases } from "../case.js";
import { FUSE, PATHMAP_PATHS } from "./files.js";

export const filterBuilding: Cases = {
  "buildPathFilter writes a header line and a line of Base64": () => {
    const file = textOf(buildPathFilter(["/a"], { sizing: "classic", version: "dpl_7", seed: 3 }));
    const [line1, line2, ...rest] = file.split("\n");
    equal(line1, '{"version":"dpl_7","bloom":{"n":1,"p":1e-7,"m":48,"k":23,"s":3}}');
    equal(/^"[A-Za-z0-9+/]{8}"$/.test(line2!), true, line2);
    equal(rest, []);
  },

  "every path that was added to a filter is present": () => {
    const paths = ["", "/", "/é😀", "/a".repeat(2000), "\0", "\ud800", " ", "/%2F", "/blog/*"];
    for (const sizing of ["promised", "classic"] as const) {
      for (const falsePositiveRate of [0.5, 1e-2, 1e-7]) {
        const filter = PathFilter.parse(buildPathFilter(paths, { sizing, falsePositiveRate }));
        equal(
          paths.filter((path) => !filter.has(path)),
          [],
        );
        filter.free();
      }
    }
  },

  "buildPathFilter counts duplicates once, and ignores the order of paths": () => {
    const once = buildPathFilter(["/a", "/b", "/c"]);
    equal(textOf(buildPathFilter(["/c", "/a", "/b", "/a", "/c"])), textOf(once));
    equal(PathFilter.parse(once).params.bloom?.n, 3);
  },

  "a PathFilterBuilder takes paths one by one": () => {
    const builder = new PathFilterBuilder({ version: "1" }).add("/a").add("/b/*");
    equal(textOf(builder.build()), textOf(buildPathFilter(["/b/*", "/a"], { version: "1" })));
    refused(() => builder.add("/c"), "ERR_FREED", "used after build() or free()");
    refused(() => builder.build(), "ERR_FREED", "used after build() or free()");
    builder.free();
  },

  "buildPathFilter takes any iterable, and propagates its errors": () => {
    const both = textOf(buildPathFilter(["/a", "/b"]));
    equal(textOf(buildPathFilter(new Set(["/a", "/b"]))), both);
    const interrupted = function* () {
      yield "/a";
      throw new RangeError("the iterable's own");
    };
    try {
      buildPathFilter(interrupted());
    } catch (error) {
      equal((error as Error).message, "the iterable's own");
      return;
    }
    throw new Error("expected an error, found none");
  },

  "a filter built from no paths contains nothing": () => {
    const filter = PathFilter.parse(buildPathFilter([]));
    equal(filter.params.bloom?.n, 0);
    equal(filter.has("/"), false);
    equal(filter.wildcards, 0);
  },

  "a filter whose paths make the memory grow contains all of them": () => {
    const paths = Array.from({ length: 100_000 }, (_, number) => `/archive/${number}`);
    const filter = PathFilter.parse(buildPathFilter(paths));
    equal(
      paths.filter((path) => !filter.has(path)),
      [],
    );
    equal(filter.params.bloom?.n, 100_000);
    filter.free();
  },

  "a filter of the kind fuse is built to the byte as documented": () => {
    const file = buildPathFilter([...PATHMAP_PATHS, "/foo"], { kind: "fuse", version: "test" });
    equal(textOf(file), FUSE);
    const builder = new PathFilterBuilder({ kind: "fuse", version: "test" });
    for (const path of PATHMAP_PATHS.toReversed()) builder.add(path);
    equal(textOf(builder.build()), FUSE);
  },

  "a filter of the kind fuse contains all of its paths, however many": () => {
    for (const count of [0, 1, 2, 10, 100, 1000, 30_000]) {
      const paths = Array.from({ length: count }, (_, number) => `/archive/${number}/*`);
      const file = buildPathFilter(paths, { kind: "fuse", seed: 2 ** 53 - 1 });
      const filter = PathFilter.parse(file);
      equal([filter.params.fuse?.n, filter.wildcards], [count, count === 0 ? 0 : 3]);
      equal(
        paths.filter((path) => !filter.has(path)),
        [],
      );
      equal(filter.has("/absent"), false);
      equal(measurePathFilter(file).falsePositiveRate, 2 ** -24);
      filter.free();
    }
  },

  "a filter of the kind fuse takes at most 300 bytes for ten paths": () => {
    const paths = Array.from({ length: 10 }, (_, number) => `/page/${number}`);
    equal(buildPathFilter(paths, { kind: "fuse", version: "dpl_7" }).length <= 300, true);
  },

  "the version of a filter can be any text": () => {
    for (const version of ["", 'a"b\\c\n', "é😀", "\u0007", "\ud800"]) {
      const file = buildPathFilter(["/a"], { version });
      equal(PathFilter.parse(file).params.version, version);
    }
  },

  "a filter stores the depth of its deepest wildcard key": () => {
    const depthOf = (...paths: string[]) => PathFilter.parse(buildPathFilter(paths)).wildcards;
    equal(depthOf("/a", "/b*", "*"), 0);
    equal(depthOf("/*"), 1);
    equal(depthOf("/a/*", "/*", "/a/b/c"), 2);
    equal(depthOf(`${"/a".repeat(100)}/*`), 64);
    equal(PathFilter.parse(buildPathFilter(["/a/*"])).params.wildcards, 2);
  },

  "buildPathFilter refuses options beyond a limit or of the wrong type": () => {
    for (const falsePositiveRate of [0, -1, 0.51, 1e-19, Number.NaN, "0.1" as unknown as number]) {
      refused(() => buildPathFilter([], { falsePositiveRate }), "ERR_ARGUMENT", "1e-18 to 0.5");
    }
    for (const seed of [-1, 0.5, 2 ** 53, Number.NaN]) {
      refused(() => buildPathFilter([], { seed }), "ERR_ARGUMENT", "seed", `found ${seed}`);
    }
    const longest = "x".repeat(2 ** 16 - 162);
    PathFilter.parse(buildPathFilter(["/*"], { version: longest, seed: 2 ** 53 - 1 })).free();
    refused(() => buildPathFilter([], { version: `${longest}x` }), "ERR_ARGUMENT", "65537");
    refused(() => buildPathFilter([], { version: 1 as unknown as string }), "ERR_ARGUMENT");
    refused(() => buildPathFilter([], { sizing: "small" as "classic" }), "ERR_ARGUMENT", "small");
    refused(() => buildPathFilter([], { kind: "xor" as "fuse" }), "ERR_ARGUMENT", "kind", "xor");
    const none = 'expected none with kind "fuse"';
    for (const option of [{ falsePositiveRate: 0.1 }, { sizing: "classic" }] as const) {
      refused(() => buildPathFilter([], { kind: "fuse", ...option }), "ERR_ARGUMENT", none);
    }
  },

  "an unknown option is refused": () => {
    const file = buildPathFilter([]);
    const load = () => PathFilter.parse(file);
    const calls: ((options: object) => unknown)[] = [
      (options) => buildPathFilter([], options),
      (options) => mergePathFilters([file], options),
      (options) => PathFilter.parse(file, options),
      (options) => new PathFilterStore({ maxBytes: 1, load, ...options }),
    ];
    for (const call of calls) {
      call({});
      refused(() => call({ fastest: true }), "ERR_ARGUMENT", 'found an option "fastest"');
    }
  },

  "buildPathFilter refuses an argument that is not a list of strings": () => {
    refused(() => buildPathFilter("/a"), "ERR_ARGUMENT", "a list of paths, found string");
    refused(() => buildPathFilter(["/a", 7 as unknown as string]), "ERR_ARGUMENT", "number");
  },

  "measurePathFilter returns the set bits and the false-positive rate": () => {
    const { bitsSet, falsePositiveRate } = measurePathFilter(buildPathFilter(["/a", "/b"]));
    equal(bitsSet > 40 && bitsSet <= 46, true, `${bitsSet}`);
    equal(falsePositiveRate > 0.5e-7 && falsePositiveRate < 1e-7, true, `${falsePositiveRate}`);
    equal(measurePathFilter(buildPathFilter([])), { bitsSet: 0, falsePositiveRate: 0 });
    refused(() => measurePathFilter(new Uint8Array(3)), "ERR_FILTER_FORMAT");
  },
};
