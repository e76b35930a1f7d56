import { buildPathFilter, PathFilter } from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import type { Cases } from "../case.js";
import { PATHMAP } from "./files.js";

export const filterLifetime: Cases = {
  "a freed filter refuses every query": () => {
    const filter = PathFilter.parse(PATHMAP);
    filter.has("/foo");
    filter.free();
    filter.free();
    refused(() => filter.has("/foo"), "ERR_FREED", "PathFilter was used after free()");
    refused(() => filter.has("/".repeat(5000)), "ERR_FREED", "PathFilter was used after free()");
    equal(filter.params.bloom?.n, 4);
  },

  "using frees a filter at the end of its block": () => {
    let outside: PathFilter;
    {
      using filter = PathFilter.parse(PATHMAP);
      outside = filter;
    }
    refused(() => outside.has("/foo"), "ERR_FREED");
  },

  "freeing one filter does not affect others": () => {
    const filters = Array.from({ length: 60 }, (_, number) =>
      PathFilter.parse(buildPathFilter([`/${number}`])),
    );
    for (const filter of filters.filter((_, number) => number % 2 === 0)) filter.free();
    const later = Array.from({ length: 30 }, () => PathFilter.parse(buildPathFilter(["/later"])));
    for (const [number, filter] of filters.entries()) {
      if (number % 2 === 0) continue;
      equal([filter.has(`/${number}`), filter.has("/later")], [true, false]);
      filter.free();
    }
    for (const filter of later) filter.free();
  },

  "filters keep working when others make the memory grow": () => {
    const small = PathFilter.parse(PATHMAP);
    const paths = Array.from({ length: 20_000 }, (_, number) => `/archive/${number}`);
    const file = buildPathFilter(paths);
    const filters = Array.from({ length: 20 }, () => {
      const filter = PathFilter.parse(file);
      equal([small.has("/foo"), small.has("/bar"), filter.has("/archive/7")], [true, false, true]);
      return filter;
    });
    for (const filter of filters) filter.free();
    small.free();
  },
};
