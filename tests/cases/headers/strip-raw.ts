import { HeaderStripper } from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import type { Cases } from "../case.js";

export const stripRaw: Cases = {
  "stripRaw keeps the case, the order and the duplicates of the other fields": () => {
    using stripper = new HeaderStripper(["x-internal-*", "x-debug"]);
    const raw = ["Host", "a", "X-Debug", "1", "ACCEPT", "x-debug", "x-internal-a", "2"];
    const cookies = ["Set-Cookie", "a=1", "set-cookie", "b=2", "Set-Cookie", "a=1"];
    const before = [...raw, ...cookies];
    const list = [...before];
    equal(stripper.stripRaw(list), ["Host", "a", "ACCEPT", "x-debug", ...cookies]);
    equal(list, before, "the list that was given");
  },

  "stripRaw matches names, not values": () => {
    using stripper = new HeaderStripper(["x-a"]);
    equal(stripper.stripRaw(["b", "x-a", "x-a", "b"]), ["b", "x-a"]);
  },

  "stripRaw returns a copy of an empty list": () => {
    using stripper = new HeaderStripper(["x-a"]);
    const list: string[] = [];
    equal(stripper.stripRaw(list), []);
    equal(stripper.stripRaw(list) === list, false, "is the same list");
  },

  "stripRaw refuses a name without a value": () => {
    using stripper = new HeaderStripper(["x-a"]);
    for (const list of [["a"], ["a", "1", "x-a"]]) {
      const before = [...list];
      const found = `found ${list.length} strings`;
      refused(() => stripper.stripRaw(list), "ERR_ARGUMENT", "rawHeaders: ", found);
      equal(list, before);
    }
  },
};
