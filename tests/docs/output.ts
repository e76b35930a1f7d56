/** What commands print, and what a document says that they print. */
import { expect } from "vitest";

/** Lines without what cannot be seen. */
const visible = (text: string) => text.replace(/[ \t\r]+$/gm, "").trimEnd();

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Asserts what was printed; `…` in a document stands for anything. */
export function expectPrinted(printed: string | undefined, text: string): void {
  if (printed === undefined) throw new Error("expected a block before this one that prints");
  const pattern = visible(text).split("\u2026").map(escaped).join("[^]*");
  if (!new RegExp(`^${pattern}$`).test(visible(printed))) expect(visible(printed)).toBe(text);
}
