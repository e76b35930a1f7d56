/** Compares the output of commands with the output in a document. */
import { expect } from "vitest";

/** Removes trailing white space. */
const visible = (text: string) => text.replace(/[ \t\r]+$/gm, "").trimEnd();

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Asserts that output matches a block; `…` in the block matches any text. */
export function expectPrinted(printed: string | undefined, text: string): void {
  if (printed === undefined) throw new Error("expected a block before this one that prints");
  const pattern = visible(text).split("\u2026").map(escaped).join("[^]*");
  if (!new RegExp(`^${pattern}$`).test(visible(printed))) expect(visible(printed)).toBe(text);
}
