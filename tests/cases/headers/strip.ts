import { HeaderStripper } from "hedgerow";
import { equal, thrownBy } from "../../support/assert.js";
import type { Cases } from "../case.js";

/** Asserts which headers are left, and how many names are removed. */
function stripped(
  rules: readonly string[],
  fields: [string, string][],
  left: [string, string][],
  count: number,
) {
  using stripper = new HeaderStripper(rules);
  const headers = new Headers(fields);
  equal(stripper.strip(headers), count, "count");
  equal([...headers], left, "left");
  equal(stripper.strip(headers), 0, "count of a second time");
}

export const strip: Cases = {
  "strip removes the fields that a rule matches, and keeps the others": () => {
    stripped(
      ["x-internal-*", "x-debug"],
      [
        ["Accept", "*/*"],
        ["X-Internal-User", "7"],
        ["X-Debug", "1"],
        ["X-Debugger", "2"],
      ],
      [
        ["accept", "*/*"],
        ["x-debugger", "2"],
      ],
      2,
    );
  },

  "strip counts a name that occurs several times once": () => {
    stripped(
      ["x-a"],
      [
        ["x-a", "1"],
        ["X-A", "2"],
        ["x-b", "3"],
        ["x-b", "4"],
      ],
      [["x-b", "3, 4"]],
      1,
    );
  },

  "strip keeps every Set-Cookie in order, or removes all as one name": () => {
    const cookies: [string, string][] = [
      ["set-cookie", "b=2"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ];
    stripped(["x-*"], [...cookies, ["x-a", "1"]], cookies, 1);
    stripped(["set-*"], [...cookies, ["x-a", "1"]], [["x-a", "1"]], 1);
  },

  "strip does not change headers without a match": () => {
    stripped(["x-*"], [["accept", "a, b"]], [["accept", "a, b"]], 0);
    stripped(["x-*"], [], [], 0);
    stripped([], [["x-a", "1"]], [["x-a", "1"]], 0);
  },

  "strip throws a TypeError for immutable headers, and does not change them": ({ immutable }) => {
    const before = [...immutable];
    using stripper = new HeaderStripper(immutable.keys());
    const error = thrownBy(() => stripper.strip(immutable));
    equal(error instanceof TypeError, true, `${error} is a TypeError`);
    equal([...immutable], before);
    equal(before.length > 0, true, "there was a field to strip");
  },

  "strip accepts immutable headers without a match": ({ immutable }) => {
    using stripper = new HeaderStripper(["x-not-there"]);
    equal(stripper.strip(immutable), 0);
  },
};
