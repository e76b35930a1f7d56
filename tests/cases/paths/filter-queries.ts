import { buildPathFilter, canExist, PathFilter, PathSet } from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import { bytesOf } from "../../support/text.js";
import type { Cases } from "../case.js";
import { FUSE, PATHMAP, PATHMAP_PATHS, REDIRECTS, ROUTING } from "./files.js";

export const filterQueries: Cases = {
  "published filters give the published results": () => {
    const pathmap = PathFilter.parse(PATHMAP);
    equal(
      PATHMAP_PATHS.map((path) => pathmap.has(path)),
      [true, true, true, true],
    );
    equal(
      ["/foo/baz", "/", ""].map((path) => pathmap.has(path)),
      [false, false, false],
    );
    const redirects = PathFilter.parse(REDIRECTS);
    equal(
      ["/old-path", "/another-old-path", "/"].map((path) => redirects.has(path)),
      [true, true, false],
    );
    const routing = PathFilter.parse(ROUTING);
    equal(
      ["", "/", "/index"].map((path) => routing.has(path)),
      [true, false, false],
    );
  },

  "a filter of the kind fuse gives the documented results": () => {
    const filter = PathFilter.parse(FUSE);
    equal(
      PATHMAP_PATHS.map((path) => filter.has(path)),
      [true, true, true, true],
    );
    equal(
      ["/foo/baz", "/", ""].map((path) => filter.has(path)),
      [false, false, false],
    );
    const fuse = { n: 4, m: 20, l: 4, q: 6_019_636_495_693_593, s: 0 };
    equal(filter.params, { version: "test", fuse });
  },

  "PathFilter.parse reads bytes, a buffer or a string": () => {
    const bytes = bytesOf(PATHMAP);
    const within = new Uint8Array([7, ...bytes, 7]).subarray(1, -1);
    for (const file of [PATHMAP, bytes, bytes.buffer as ArrayBuffer, within]) {
      const filter = PathFilter.parse(file);
      equal(filter.has("/foo"), true);
      equal(filter.byteLength, bytes.length);
    }
  },

  "a filter does not normalise the paths it is queried for": () => {
    const filter = PathFilter.parse(buildPathFilter(["/a", "/é"]));
    equal(
      ["/a", "/é"].map((path) => filter.has(path)),
      [true, true],
    );
    for (const path of ["/A", "/a/", "a", "/%61", "/e\u0301", "/a?b"]) {
      equal(filter.has(path), false, path);
    }
  },

  "a filter distinguishes paths of any length by their last character": () => {
    const lengths = [0, 1, 31, 32, 1023, 1024, 1025, 3000, 100_000];
    const paths = lengths.flatMap((length) => ["a", "é", "😀"].map((one) => one.repeat(length)));
    const filter = PathFilter.parse(buildPathFilter(paths));
    for (const path of paths) {
      equal(filter.has(path), true, `${path.length} characters`);
      equal(filter.has(`${path}/`), false, `${path.length} characters`);
    }
  },

  "a filter treats a lone surrogate as the replacement character": () => {
    const filter = PathFilter.parse(buildPathFilter(["/\ud800"]));
    equal(filter.has("/\ufffd"), true);
    equal(filter.has("/\udfff"), true);
  },

  "a filter refuses a path that is not a string": () => {
    const filter = PathFilter.parse(PATHMAP);
    refused(() => filter.has(7 as unknown as string), "ERR_ARGUMENT", "found number");
    refused(() => filter.has(undefined as unknown as string), "ERR_ARGUMENT", "found undefined");
  },

  "params has all members of the first line": () => {
    const file = PATHMAP.replace('"bloom":', '"built":{"by":["us"]},"bloom":');
    const bloom = { n: 4, p: 1e-7, m: 138, k: 23, s: 0 };
    equal(PathFilter.parse(file).params, { version: "test", built: { by: ["us"] }, bloom });
  },

  "canExist returns true below a wildcard key": () => {
    const paths = ["/", "/blog/*", "/docs", "/docs/v2/*"];
    for (const lookup of [PathFilter.parse(buildPathFilter(paths)), new PathSet(paths)]) {
      for (const path of ["/", "/blog/a", "/blog/a/b/c", "/docs", "/docs/v2/x"]) {
        equal(canExist(lookup, path), true, path);
      }
      for (const path of ["/blog", "/docs/v1", "/docs/v2", "/blogs/a", "/about"]) {
        equal(canExist(lookup, path), false, path);
      }
    }
  },

  "canExist treats a last segment that is an asterisk as a name": () => {
    const paths = ["/a/%2A"];
    for (const lookup of [PathFilter.parse(buildPathFilter(paths)), new PathSet(paths)]) {
      equal(lookup.wildcards, 0);
      for (const path of ["/a/*", "/a/%2A"]) equal(canExist(lookup, path), true, path);
      for (const path of ["/*", "/a", "/a/b", "/a/*b"]) equal(canExist(lookup, path), false, path);
    }
  },

  "canExist looks wildcard keys up only to the greatest depth": () => {
    const asked: string[] = [];
    const has = (path: string) => {
      asked.push(path);
      return false;
    };
    equal(canExist({ has, wildcards: 0 }, "/a/b"), false);
    equal(asked.splice(0), ["/a/b"]);
    equal(canExist({ has, wildcards: 2 }, "/a/b/c/d"), false);
    equal(asked.splice(0), ["/a/b/c/d", "/*", "/a/*"]);
    equal(canExist({ has, wildcards: 9 }, "/a/b"), false);
    equal(asked.splice(0), ["/a/b", "/*", "/a/*"]);
  },

  "canExist returns true below the greatest depth reported": () => {
    const deep = "/a".repeat(70);
    for (const lookup of [
      PathFilter.parse(buildPathFilter([`${deep}/*`])),
      new PathSet([`${deep}/*`]),
    ]) {
      equal(canExist(lookup, `${deep}/b`), true);
      equal(canExist(lookup, "/a".repeat(64)), false);
    }
  },
};
