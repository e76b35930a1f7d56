/** The types of the tarballs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { copyOf, emptyFolder, TEST_TIMEOUT } from "./support/project.js";
import { run, tool } from "./support/tool.js";

/**
 * Packages contain only ES modules. In every supported Node, `require` loads the same ones, without duplicates. The
 * profile ignores CommonJS and resolutions without `exports`; `node.test.ts` and `types.test.ts` cover `require`.
 */
test.for(["hedgerow", "@hedgerow/snapshot", "@hedgerow/fleet"])(
  "resolves the types of %s in every supported way",
  {
    timeout: TEST_TIMEOUT,
  },
  async (name) => {
    const folder = copyOf(name, emptyFolder());
    const args = ["--pack", "--profile", "esm-only", "--format", "json"];
    const { analysis } = JSON.parse(await run(folder, tool("attw"), ...args));
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(exports));
    type Problem = { kind: string; resolutionKind?: string };
    const unexpected = (analysis.problems as Problem[]).filter(
      ({ kind, resolutionKind }) => kind !== "CJSResolvesToESM" && resolutionKind !== "node10",
    );
    expect(unexpected).toEqual([]);
  },
);
