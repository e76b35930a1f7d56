/** Records stay comparable only while the workloads stay the same. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";

import { internalNames, prefixRules, requests } from "../../scripts/lib/corpus.mjs";

const lines = (workload: "real" | "uniform" | "near") =>
  requests(workload).map(({ names }) => names.join(" "));

const WORKLOADS: [string, string[], string][] = [
  ["internal", internalNames(), "97f9a42626c54fda3b65752372c6a91b1e2dd5fe4c7d4d467ab949a7d35c4c18"],
  [
    "prefix-rules",
    prefixRules(),
    "39a5f36b7601dffddc646a06c4f93416981135a4b09ea2090d82ea5f34e3b54a",
  ],
  ["real", lines("real"), "86e6b1bf31064d3ad87ef19bb53e5518a304661472662ba7750328e67dddc70b"],
  ["uniform", lines("uniform"), "dac2c0e58823cba4f3ea24ee483961be5437e17db4fc3d7d7860da840763c30e"],
  ["near", lines("near"), "0984faf47e020a46cb9e35b2d6b30a2b75d9bf2d519d283b20cc3cec8739add7"],
];

test.each(WORKLOADS)("the workload %s has the digest of the records", (_, lines, digest) => {
  expect(createHash("sha256").update(lines.join("\n")).digest("hex")).toBe(digest);
});
