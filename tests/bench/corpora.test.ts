/** Records stay comparable only while the workloads stay the same. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";

const DIGESTS = {
  internal: "09c6e5557f248269c736d70568f9e49a1baf790f362d9b4a7ab2fd3cf5e7a61e",
  near: "2916c63bb56f3c0f3fbfdfb532facd074f052660f598126a6740d645380ee62b",
  "prefix-rules": "535c32298be4f13c62555375b851f8ee1339de2f2ad38e969dfa84640830c811",
  real: "a30810b15b427d8b22da15c0287a78ae726b8784c430ec9ad6992417dad133cf",
  uniform: "025c0bfc26538798aed16928eaae1411a3ffb6d4e49953f54e7160b4b0efdee3",
};

test.each(Object.entries(DIGESTS))(
  "the workload %s has the digest of the records",
  (name, digest) => {
    const bytes = readFileSync(inRoot("corpora", "headers", `${name}.txt`));
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest);
  },
);
