import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Files by path: content, JSON, or the target of a link. A path that ends in `/` is a folder. */
export type Tree = Record<string, string | Uint8Array | { json: unknown } | { link: string }>;

/** Creates a temporary directory with these files, which is removed when the test ends. */
export function makeTree(tree: Tree = {}): string {
  const root = mkdtempSync(join(tmpdir(), "hedgerow-cli-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(tree)) {
    const file = join(root, path);
    mkdirSync(path.endsWith("/") ? file : dirname(file), { recursive: true });
    if (path.endsWith("/")) continue;
    if (typeof content === "string" || content instanceof Uint8Array) writeFileSync(file, content);
    else if ("link" in content) symlinkSync(content.link, file);
    else writeFileSync(file, JSON.stringify(content.json));
  }
  return root;
}
