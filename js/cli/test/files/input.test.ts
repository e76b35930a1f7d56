import { expect, test } from "vitest";

import { linesOf } from "../../src/files/input.js";
import { list } from "../../src/paths/sources/index.js";
import { expectError, keysIn } from "../support/keys.js";
import { makeTree } from "../support/tree.js";

const listOf = (content: string | Uint8Array) =>
  list(`${makeTree({ "paths.txt": content })}/paths.txt`);

test("reads one path per line, with LF or CR LF", async () => {
  expect(await keysIn(listOf("/a\n/b\r\n\r\n\n/caf%C3%A9/\r\n/last"))).toEqual([
    ...["/a", "/b", "/café", "/last"],
  ]);
});

test("takes the path of an absolute URL in a list", async () => {
  const text =
    "https://example.com/a?b#c\nHTTP://EXAMPLE.com\nhttps://example.com?x\n/b?https://x/y\n";
  expect(await keysIn(listOf(text))).toEqual(["/", "/a", "/b"]);
});

test("drops a byte order mark before the first path", async () => {
  expect(await keysIn(listOf("\ufeff/a\n"))).toEqual(["/a"]);
});

test("accepts a wildcard in a list", async () => {
  expect(await keysIn(listOf("/blog//*\n/*\n"))).toEqual(["/*", "/blog/*"]);
});

test("reads lists split into chunks at any byte", async () => {
  const bytes = new TextEncoder().encode("/é\r\n/\u{1f33f}\n\n/b");
  for (let size = 1; size <= bytes.length; size += 1) {
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const lines: string[] = [];
    for await (const line of linesOf(chunks(), "list")) lines.push(line);
    expect(lines).toEqual(["/é", "/\u{1f33f}", "/b"]);
  }
});

test("refuses a list that is not UTF-8", async () => {
  await expectError(listOf(Uint8Array.of(0x2f, 0xff, 0x0a)), "expected UTF-8");
  await expectError(listOf("/a".repeat(1 << 20)), "expected a line");
});
