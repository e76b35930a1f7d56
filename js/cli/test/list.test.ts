import { expect, test } from "vitest";
import { linesOf } from "../src/files/lines.js";
import { list } from "../src/paths/sources/list.js";
import { expectError, keysIn } from "./support/keys.js";
import { makeTree } from "./support/tree.js";

const listOf = (content: string | Uint8Array) =>
  list(`${makeTree({ "paths.txt": content })}/paths.txt`);

test("a path is on each line, however lines end", async () => {
  expect(await keysIn(listOf("/a\n/b\r\n\r\n\n/caf%C3%A9/\r\n/last"))).toEqual([
    ...["/a", "/b", "/café", "/last"],
  ]);
});

test("a full URL counts by its path", async () => {
  const text =
    "https://example.com/a?b#c\nHTTP://EXAMPLE.com\nhttps://example.com?x\n/b?https://x/y\n";
  expect(await keysIn(listOf(text))).toEqual(["/", "/a", "/b"]);
});

test("a byte order mark is not part of the first path", async () => {
  expect(await keysIn(listOf("\ufeff/a\n"))).toEqual(["/a"]);
});

test("a line may be a wildcard", async () => {
  expect(await keysIn(listOf("/blog//*\n/*\n"))).toEqual(["/*", "/blog/*"]);
});

test("lines and characters may be cut anywhere", async () => {
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

test("what is no text is refused", async () => {
  await expectError(listOf(Uint8Array.of(0x2f, 0xff, 0x0a)), "expected UTF-8");
  await expectError(listOf("/a".repeat(1 << 20)), "expected a line");
});
