import { PathSet } from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import type { Cases } from "../case.js";

export const pathSet: Cases = {
  "PathSet.parse reads an array of paths": () => {
    const json = '["/","/a/b","/é"]';
    for (const set of [PathSet.parse(json), PathSet.parse(new TextEncoder().encode(json))]) {
      equal(
        ["/", "/a/b", "/é"].every((path) => set.has(path)),
        true,
      );
      equal([set.has("/a"), set.has("")], [false, false]);
      equal(set.byteLength, json.length);
    }
  },

  "PathSet.parse reads a tree with a member for each segment": () => {
    const set = PathSet.parse('{"":1,"about":true,"blog":{"":0,"a":null,"b":{"c":"x"}},"e":{}}');
    for (const path of ["/", "/about", "/blog", "/blog/a", "/blog/b/c"]) {
      equal(set.has(path), true, path);
    }
    for (const path of ["", "/blog/", "/blog/b", "/e", "/c"]) equal(set.has(path), false, path);
  },

  "PathSet treats names such as __proto__ as ordinary segments": () => {
    const set = PathSet.parse('{"__proto__":{"constructor":1},"toString":1}');
    equal(set.has("/__proto__/constructor"), true);
    equal(set.has("/toString"), true);
    equal(set.has("/hasOwnProperty"), false);
  },

  "PathSet.parse reads a deep tree": () => {
    const depth = 5000;
    const set = PathSet.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
    equal(set.has("/a".repeat(depth)), true);
  },

  "a PathSet reports the depth of its deepest wildcard key": () => {
    equal(new PathSet(["/a", "/b*"]).wildcards, 0);
    equal(new PathSet(["/a/*", "/*"]).wildcards, 2);
    equal(new PathSet([`${"/a".repeat(100)}/*`]).wildcards, 64);
    equal(PathSet.parse('{"blog":{"*":1}}').wildcards, 2);
  },

  "PathSet.parse refuses JSON that is not a set of paths": () => {
    refused(() => PathSet.parse("["), "ERR_PATH_SET", "expected JSON");
    refused(() => PathSet.parse('["/a", 7]'), "ERR_PATH_SET", "at index 1", "found number");
    refused(() => PathSet.parse("[null]"), "ERR_PATH_SET", "at index 0", "found null");
    refused(() => PathSet.parse('"/a"'), "ERR_PATH_SET", "found string");
    refused(() => PathSet.parse("null"), "ERR_PATH_SET", "found null");
    refused(() => new PathSet([7 as unknown as string]), "ERR_ARGUMENT", "found number");
    refused(() => new PathSet("/a"), "ERR_ARGUMENT", "a list of paths, found string");
  },
};
