/** The folder in which the blocks of a document run. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";

export interface Scratch {
  readonly folder: string;
  /** Stands for all other folders of a reader's machine. */
  readonly home: string;
  remove(): void;
}

/** @param isGuide guides run outside the repository; other documents where the packed packages resolve */
export function makeScratch(isGuide: boolean): Scratch {
  const temporary = realpathSync(tmpdir());
  const parent = isGuide ? temporary : inRoot("tests", "packaging", ".work");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "docs-"));
  const home = mkdtempSync(join(temporary, "hedgerow-home-"));
  const remove = () => {
    for (const path of [folder, home])
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  };
  return { folder, home, remove };
}
