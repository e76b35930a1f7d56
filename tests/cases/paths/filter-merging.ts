import {
  buildPathFilter,
  measurePathFilter,
  mergePathFilters,
  PathFilter,
  PathFilterBuilder,
} from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import { bytesOf, textOf } from "../../support/text.js";
import type { Cases } from "../case.js";

/** Returns a file with these members of `bloom` besides `n`, and 24 bits. */
const fileWith = (bloom: object, version = "") =>
  bytesOf(
    `${JSON.stringify({ version, bloom: { n: 1, p: 0.5, m: 24, k: 1, s: 0, ...bloom } })}\n"AAAA"`,
  );

export const filterMerging: Cases = {
  "filters of the kind fuse are not merged": () => {
    const [bloom, fuse] = [buildPathFilter(["/a"]), buildPathFilter(["/a"], { kind: "fuse" })];
    for (const files of [[fuse], [bloom, fuse], [fuse, bloom]]) {
      const expected = 'expected filters of the kind "bloom", found "fuse"';
      refused(() => mergePathFilters(files), "ERR_FILTER_MERGE", expected);
    }
  },

  "parts of a capacity merge to the file that buildPathFilter makes of all paths": () => {
    const paths = Array.from({ length: 3000 }, (_, number) => `/archive/${number}`);
    paths.push("/blog/*", "/é😀", "");
    for (const sizing of ["promised", "classic"] as const) {
      const options = {
        sizing,
        capacity: 4000,
        seed: 7,
        version: "dpl_7",
        falsePositiveRate: 1e-5,
      };
      const parts = [0, 1, 2].map((part) =>
        buildPathFilter(
          paths.filter((_, index) => index % 3 === part),
          options,
        ),
      );
      equal(textOf(mergePathFilters(parts)), textOf(buildPathFilter(paths, options)));
      equal(textOf(mergePathFilters(parts.reverse())), textOf(buildPathFilter(paths, options)));
    }
  },

  "a merged filter has the paths of all, and the sum of their numbers": () => {
    const one = buildPathFilter(["/a", "/b/*"], { capacity: 10 });
    const other = buildPathFilter(["/a", "/c/d/*"], { capacity: 10 });
    const merged = mergePathFilters([one, other]);
    const filter = PathFilter.parse(merged);
    equal(
      ["/a", "/b/*", "/c/d/*", "/d"].map((path) => filter.has(path)),
      [true, true, true, false],
    );
    equal([filter.params.bloom?.n, filter.wildcards], [4, 3]);
    const all = buildPathFilter(["/a", "/b/*", "/c/d/*"], { capacity: 10 });
    equal(measurePathFilter(merged).bitsSet, measurePathFilter(all).bitsSet);
    filter.free();
  },

  "merging a filter with itself changes no bit": () => {
    const file = buildPathFilter(["/a", "/b"]);
    const [, bits] = textOf(mergePathFilters([file, file])).split("\n");
    equal(bits, textOf(file).split("\n")[1]);
    equal(textOf(mergePathFilters([file])), textOf(file));
  },

  "mergePathFilters takes any iterable, and propagates its errors": () => {
    const file = buildPathFilter(["/a"], { version: "1" });
    equal(textOf(mergePathFilters(new Set([file]))), textOf(file));
    const interrupted = function* () {
      yield file;
      throw new RangeError("the iterable's own");
    };
    try {
      mergePathFilters(interrupted());
    } catch (error) {
      equal((error as Error).message, "the iterable's own");
      return;
    }
    throw new Error("expected an error, found none");
  },

  "mergePathFilters stores the given version, or the equal version of the filters": () => {
    const files = ["1", "1", "2"].map((version) => fileWith({}, version));
    const versionOf = (file: Uint8Array) => PathFilter.parse(file).params.version;
    equal(versionOf(mergePathFilters(files.slice(0, 2))), "1");
    equal(versionOf(mergePathFilters(files, { version: "3" })), "3");
    equal(versionOf(mergePathFilters(files, { version: "" })), "");
    refused(() => mergePathFilters(files), "ERR_FILTER_MERGE", 'version "1"', 'found "2"');
    const version = "x".repeat(2 ** 16 - 161);
    refused(() => mergePathFilters([fileWith({})], { version }), "ERR_ARGUMENT", "65537");
    const long = fileWith({}, "x".repeat(2 ** 16 - 100));
    refused(() => mergePathFilters([long]), "ERR_ARGUMENT", "version");
  },

  "mergePathFilters refuses filters with different parameters, and names them": () => {
    const file = fileWith({});
    for (const [bloom, ...parts] of [
      [{ m: 23 }, "m = 24", "found m = 23"],
      [{ k: 2 }, "k = 1", "found k = 2"],
      [{ s: 5 }, "s = 0", "found s = 5"],
      [{ n: 2 ** 53 - 1 }, "2^53 - 1"],
    ] as const) {
      refused(() => mergePathFilters([file, fileWith(bloom)]), "ERR_FILTER_MERGE", ...parts);
    }
  },

  "a merged filter has the greatest requested rate, if a builder accepts it": () => {
    const rateOf = (...rates: number[]) => {
      const merged = mergePathFilters(rates.map((p) => fileWith({ p })));
      return PathFilter.parse(merged).params.bloom?.p;
    };
    equal(rateOf(0.25, 0.5, 1e-7), 0.5);
    equal(rateOf(0, 0.25), 0.25);
    for (const p of [0, 0.6, 1e-19]) {
      refused(() => rateOf(p, p), "ERR_FILTER_MERGE", "1e-18 to 0.5", `found p = ${p}`);
    }
  },

  "mergePathFilters drops members that the format does not define": () => {
    const file = bytesOf(
      '{"x":[1],"version":"","bloom":{"n":1,"p":0.5,"m":24,"k":1,"s":0,"y":2}}\r\n"////"\r\n',
    );
    equal(
      textOf(mergePathFilters([file, fileWith({})])),
      '{"version":"","bloom":{"n":2,"p":0.5,"m":24,"k":1,"s":0}}\n"////"',
    );
  },

  "mergePathFilters refuses what is not a list of filters": () => {
    refused(() => mergePathFilters([]), "ERR_ARGUMENT", "at least one filter, found none");
    refused(() => mergePathFilters("/a" as never), "ERR_ARGUMENT", "a list of files");
    refused(() => mergePathFilters(["/a" as never]), "ERR_ARGUMENT", "a Uint8Array");
    refused(() => mergePathFilters([fileWith({}), new Uint8Array(3)]), "ERR_FILTER_FORMAT");
    refused(() => mergePathFilters([fileWith({}).subarray(0, -3)]), "ERR_FILTER_FORMAT");
  },

  "a filter built for a capacity has the size for it, and its own number of paths": () => {
    const { bloom } = PathFilter.parse(buildPathFilter(["/a", "/a"], { capacity: 1000 })).params;
    const full = PathFilter.parse(
      buildPathFilter(Array.from({ length: 1000 }, (_, at) => `/${at}`)),
    ).params;
    equal([bloom!.n, bloom!.m], [1, full.bloom!.m]);
  },

  "more different paths than the capacity are refused": () => {
    buildPathFilter(["/a", "/b", "/a"], { capacity: 2 });
    const build = () => buildPathFilter(["/a", "/b", "/c"], { capacity: 2 });
    refused(build, "ERR_ARGUMENT", "expected at most 2 different paths, found more");
    for (const capacity of [0, -1, 0.5, 2 ** 53, Number.NaN, "5" as unknown as number]) {
      refused(() => new PathFilterBuilder({ capacity }), "ERR_ARGUMENT", "capacity");
    }
    const huge = () => buildPathFilter(["/a"], { capacity: 200_000_000 });
    refused(huge, "ERR_ARGUMENT", "2^32 - 1 bits");
  },
};
