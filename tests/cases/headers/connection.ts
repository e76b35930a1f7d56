import { HeaderStripper, preset } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { equal, refused } from "../../support/assert.js";
import { bytesOf } from "../../support/text.js";
import type { Cases } from "../case.js";
import { leaves } from "./strip-block.js";

/** Asserts which headers are left when `connection` is stripped, and how many names are removed. */
function stripped(
  value: string,
  names: readonly string[],
  left: readonly string[],
  count: number,
): void {
  using stripper = new HeaderStripper(["connection", "x-rule"]);
  const headers = new Headers({ connection: value });
  for (const name of names) headers.append(name, "1");
  equal(stripper.strip(headers), count, `count for ${value}`);
  equal([...headers.keys()], left, `left for ${value}`);
}

/** Asserts the result of stripping a raw list. */
function strippedRaw(
  rules: readonly string[],
  raw: readonly string[],
  left: readonly string[],
): void {
  using stripper = new HeaderStripper(rules);
  equal(stripper.stripRaw(raw), left, `left of ${raw}`);
}

/** Fields that senders must not nominate: they frame or route a message, or identify the sender. */
const FOR_ALL = [
  ...["content-length", "transfer-encoding", "host", "content-type", "content-encoding", "cookie"],
  ...[
    "authorization",
    "cache-control",
    "cdn-loop",
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-real-ip",
  ],
];

export const connection: Cases = {
  "strip removes the fields that Connection nominates": () => {
    stripped("close, X-Hop ,\tx-late", ["x-hop", "x-late", "x-stays"], ["x-stays"], 3);
    stripped("x-not-there", ["x-stays"], ["x-stays"], 1);
  },

  "strip counts a name once if it is nominated twice or also matches a rule": () => {
    stripped("x-a, x-a", ["x-a", "x-b"], ["x-b"], 2);
    stripped("x-a, x-b, x-a", ["x-a", "x-b", "x-c"], ["x-c"], 3);
    stripped("x-a, x-b, X-A, X-B", ["x-a", "x-b", "x-c"], ["x-c"], 3);
    stripped("x-rule, connection", ["x-rule", "x-c"], ["x-c"], 2);
  },

  "strip removes the fields that each of several Connection fields nominates": () => {
    using stripper = new HeaderStripper(preset("hop-by-hop"));
    const headers = new Headers([
      ["Connection", "x-a"],
      ["connection", "x-b, keep-alive"],
      ["keep-alive", "timeout=5"],
      ["x-a", "1"],
      ["x-b", "2"],
      ["x-c", "3"],
    ]);
    equal(stripper.strip(headers), 4);
    equal([...headers.keys()], ["x-c"]);
  },

  "a message whose Connection nominates a field for all recipients is refused unchanged": () => {
    for (const name of FOR_ALL) {
      using stripper = new HeaderStripper(["connection", "x-rule"]);
      for (const option of [name, name.toUpperCase(), `close,, ${name} ,x-a`]) {
        const headers = new Headers({
          connection: option,
          "x-rule": "1",
          [name]: "1",
          "x-a": "1",
        });
        const before = JSON.stringify([...headers]);
        refused(() => stripper.strip(headers), "ERR_CONNECTION_OPTION", `nominates ${name},`);
        equal(JSON.stringify([...headers]), before, "headers that were refused");

        const raw = ["x-a", "1", name.toUpperCase(), "1", "x-rule", "1", "Connection", option];
        const unchanged = [...raw];
        refused(() => stripper.stripRaw(raw), "ERR_CONNECTION_OPTION", `nominates ${name},`);
        equal(raw, unchanged, "a raw list that was refused");

        const block = bytesOf(`x-a: 1\r\nConnection: ${option}\r\n${name}: 1\r\n`);
        const bytes = [...block];
        const message = "expected a field that may be nominated, found another";
        refused(() => stripBlock(stripper, block), "ERR_FIELD_BLOCK", message);
        equal([...block], bytes, "a block that was refused");
      }
      // An option with a parameter is ignored, and so is one whose field is missing.
      strippedRaw(["connection"], ["connection", `${name};q=1`, name, "1"], [name, "1"]);
      strippedRaw(["connection"], ["connection", name, "a", "1"], ["a", "1"]);
      // A rule may match the field: that is the caller's decision.
      strippedRaw(["connection", name], ["connection", name, name, "1", "a", "1"], ["a", "1"]);
    }
  },

  "nominations do not remove Upgrade or a TE that accepts trailers": () => {
    stripped("Upgrade, TE, x-a", ["te", "upgrade", "x-a"], ["upgrade"], 3);
    using stripper = new HeaderStripper(["connection"]);
    const headers = new Headers({ connection: "te", te: "Trailers" });
    equal(stripper.strip(headers), 1);
    equal([...headers.keys()], ["te"]);
    const kept = ["Upgrade", "websocket", "TE", "\ttrailers "];
    strippedRaw(["connection"], ["Connection", "TE, upgrade", ...kept, "te", "gzip"], kept);
    const block = "upgrade: h2c\r\nte:trailers\r\n";
    leaves(["connection"], `connection: te,UPGRADE\r\nte: gzip\r\n${block}`, block);
  },

  "a nomination of another spelling of a field for all recipients is refused": () => {
    using stripper = new HeaderStripper(["connection"]);
    for (const name of ["X_Real_IP", "x-forwarded_for", "content.type"]) {
      const raw = ["Connection", name, name, "1"];
      const lower = name.toLowerCase();
      refused(() => stripper.stripRaw(raw), "ERR_CONNECTION_OPTION", `nominates ${lower},`);
      const block = bytesOf(`Connection: ${name}\r\n${name}: 1\r\n`);
      const message = "expected a field that may be nominated, found another";
      refused(() => stripBlock(stripper, block), "ERR_FIELD_BLOCK", message);
    }
    strippedRaw(["connection"], ["Connection", "x-a", "x-a", "1", "x_a", "2"], ["x_a", "2"]);
  },

  "stripBlock refuses a block that frames its body twice": () => {
    using stripper = new HeaderStripper(["x-a"]);
    const [length, encoding] = ["Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n"];
    for (const block of [length + encoding, encoding + length, length + length]) {
      const message = "expected one field that frames the body, found more";
      refused(() => stripBlock(stripper, bytesOf(block)), "ERR_FIELD_BLOCK", message);
    }
  },

  "a connection option that is not a token nominates nothing": () => {
    stripped('a b, c:, "d", \xe9, @', ["a", "b", "c", "d"], ["a", "b", "c", "d"], 1);
    leaves(
      ["connect*"],
      'connection: a b, c:, "d", \xe9\r\na: 1\r\nc: 2\r\nd: 3\r\n',
      "a: 1\r\nc: 2\r\nd: 3\r\n",
    );
    const kept = ["a b", "1", "c:", "2", '"d"', "3", "\u00e9", "4", "", "5"];
    strippedRaw(["connection"], ["Connection", 'a b, c:, "d", \u00e9,,', ...kept], kept);
  },

  "raw lists lose what every Connection field nominates, in any case and wherever it stands":
    () => {
      strippedRaw(
        ["connection"],
        [
          ...["X-Late", "1", "CoNNection", "close, X-LATE", "x-hop", "2", "Set-Cookie", "a"],
          ...["CONNECTION", "\tx-HOP ,@", "X-HOP", "3", "set-cookie", "b", "x-late", "4"],
        ],
        ["Set-Cookie", "a", "set-cookie", "b"],
      );
    },

  "an ASCII connection option does not nominate a raw name outside ASCII": () => {
    const raw = ["x-to\u212aen", "1", "\u017f", "2"];
    strippedRaw(["connection"], ["connection", "x-token, s", ...raw], raw);
  },

  "Connection can nominate thousands of different fields": () => {
    const numbers = Array.from({ length: 2000 }, (_, number) => number);
    const fields = (beginning: string) =>
      numbers.flatMap((number) => [`${beginning}${number}`, ""]);
    const options = numbers.map((number) => `a${number}`).join(",");
    strippedRaw(
      ["connection"],
      ["connection", options, ...fields("A"), ...fields("b")],
      fields("b"),
    );
  },

  "stripBlock accepts as many nominated fields as the limit, and no more": () => {
    const options = Array.from({ length: 1024 }, (_, number) => `a${number}`);
    const block = `connection: ${options}\r\nA1023: 1\r\nb: 2\r\n`;
    leaves(["connection"], block, "b: 2\r\n");
    using stripper = new HeaderStripper(["connection"]);
    const more = `${block}connection: one-more\r\n`;
    refused(
      () => stripBlock(stripper, bytesOf(more)),
      "ERR_FIELD_BLOCK",
      "expected at most 1024 nominated fields, found more",
      `at byte ${block.length}`,
    );
  },

  "a Connection value beyond 16 MiB is refused": () => {
    using stripper = new HeaderStripper(["connection"]);
    const value = "a".repeat(2 ** 24 + 1);
    const raw = ["Connection", value, "a", "1"];
    refused(() => stripper.stripRaw(raw), "ERR_ARGUMENT", "Connection: ", "at most 16 MiB");
    equal(stripper.stripRaw(["Connection", value.slice(2), "b", "1"]).length, 2);
  },

  "stripBlock removes nominated fields before and after their Connection field": () => {
    leaves(
      ["connection"],
      "x-late: 1\r\nConnection: close, X-LATE\r\nx-hop: 2\r\nclose: 3\r\nCONNECTION: x-hop,\r\n @, x-folded\r\nx-folded: 4\r\na: 5\r\n",
      "a: 5\r\n",
    );
    leaves(["connection"], "connection: connection, a\r\na: 1\r\nb: 2\r\n", "b: 2\r\n");
  },

  "Connection nominates nothing if no rule matches it": () => {
    using stripper = new HeaderStripper(["x-a"]);
    const headers = new Headers({ connection: "b", b: "1", "x-a": "2" });
    equal(stripper.strip(headers), 1);
    equal([...headers.keys()], ["b", "connection"]);
    strippedRaw(["x-a"], ["Connection", "b", "b", "1", "x-a", "2"], ["Connection", "b", "b", "1"]);
    leaves(["x-a"], "connection: a\r\na: 1\r\nx-a: 2\r\n", "connection: a\r\na: 1\r\n");
  },

  "a prefix rule that matches Connection also strips the fields it nominates": () => {
    strippedRaw(["conn*"], ["Connection", "b", "b", "1", "c", "2"], ["c", "2"]);
  },
};
