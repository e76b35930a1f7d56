/** Runs documents: each block is a test, in order. */
import { afterAll, beforeAll, describe, test } from "vitest";

import { blocksOf } from "./blocks.js";
import { documentsOf, type Group } from "./documents.js";
import { Session } from "./session.js";

/** The time a block may take on a busy machine. */
const PATIENCE = 300_000;

const IS_CODE = new Set(["module", "worker", "file"]);

export function runDocuments(group: Group): void {
  for (const document of documentsOf(group)) runDocument(document);
}

function runDocument(document: string): void {
  const blocks = blocksOf(document).filter(({ kind }) => kind !== "drawing");
  describe(document, () => {
    let session: Session;
    beforeAll(async () => {
      session = await Session.start(document);
    }, PATIENCE);
    afterAll(() => session?.close(), PATIENCE);
    for (const block of blocks) {
      const what = block.name ?? `${block.language} ${block.kind}`;
      test(`line ${block.line}: ${what}`, { timeout: PATIENCE }, () => session.run(block));
    }
    if (blocks.some(({ kind }) => IS_CODE.has(kind))) {
      test("its code type-checks", { timeout: PATIENCE }, () => session.expectTypes());
    }
  });
}
