/** The folder in which the blocks of a document run. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";

export interface Scratch {
  readonly folder: string;
  /** Where what would be anywhere else on a reader's machine is. */
  readonly home: string;
  remove(): void;
}

/** @param isGuide whether it is anywhere; else the packages are found from it, as they are packed */
export function makeScratch(isGuide: boolean): Scratch {
  const anywhere = realpathSync(tmpdir());
  const parent = isGuide ? anywhere : inRoot("tests", "packaging", ".work");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "docs-"));
  const home = mkdtempSync(join(anywhere, "hedgerow-home-"));
  const remove = () => {
    for (const path of [folder, home])
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  };
  return { folder, home, remove };
}
