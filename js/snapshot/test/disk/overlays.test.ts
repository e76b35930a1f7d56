/** Deltas of sparse files whose data replaces that of a base, as Firecracker writes diff snapshots of memory. */
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createSnapshot, inspectSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { Random } from "../../../edge/test/support/random.js";
import { refusalOf } from "../support/refusal.js";

const PAGE = 4_096;
const SIZE = 64 * PAGE;
const path = temporaryFolder();
const work = { workers: 1 };

/** Writes a sparse file of some bytes at some offsets. */
function writeSparse(name: string, size: number, data: ReadonlyMap<number, Buffer>): string {
  const file = openSync(path(name), "w");
  ftruncateSync(file, size);
  for (const [offset, bytes] of data) writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
  return path(name);
}

// Each overlay is a delta on up to ten others, which are read back.
test(
  "overlays on overlays give what a naive copy of their data gives",
  minutes({ all: 3 }),
  async () => {
    const random = new Random(47);
    for (let trial = 0; trial < trials({ few: 2, all: 8 }); trial += 1) {
      const expected = Buffer.concat([noise(`${trial}`, SIZE / 2), Buffer.alloc(SIZE / 2)]);
      writeFileSync(path("image"), expected);
      const encoding = { pieceSize: PAGE << random.below(5), ...work };
      let base = path(`${trial}-0.vhs`);
      await createSnapshot(path("image"), base, encoding);
      // More than the base objects that a delta may have.
      for (let depth = 1; depth <= 10; depth += 1) {
        const data = new Map<number, Buffer>();
        for (let count = random.below(6); count > 0; count -= 1) {
          // A page of zeros is data, too.
          const bytes =
            random.below(3) === 0 ? Buffer.alloc(PAGE) : noise(`${random.below(2 ** 31)}`, PAGE);
          data.set(random.below(SIZE / PAGE) * PAGE, bytes);
        }
        for (const [offset, bytes] of data) bytes.copy(expected, offset);
        const overlay = writeSparse("overlay", SIZE, data);
        const next = path(`${trial}-${depth}.vhs`);
        await createSnapshot(overlay, next, { base, overlay: true, ...work });
        base = next;
        expect((await inspectSnapshot(base)).delta?.objects.length).toBeLessThanOrEqual(8);
        await restoreSnapshot(base, path("restored"), work);
        expectSame(readFileSync(path("restored")), expected);
      }
    }
  },
);

test("refuses an image that is no overlay of the base", async () => {
  const image = writeSparse("base", SIZE, new Map([[0, noise("base", PAGE)]]));
  const base = path("base.vhs");
  await createSnapshot(image, base, work);
  const destination = path("none.vhs");
  const options = { base, overlay: true, ...work };
  const longer = writeSparse("longer", SIZE + PAGE, new Map());
  const { message } = await refusalOf(createSnapshot(longer, destination, options), "ERR_IMAGE");
  expect(message).toContain(`expected ${SIZE} bytes, the size of the base, found ${SIZE + PAGE}`);
  const changed = [{ start: 0, end: 1 }];
  for (const wrong of [{ overlay: true }, { ...options, changed }, { ...options, pieceSize: PAGE }])
    await refusalOf(createSnapshot(image, destination, wrong), "ERR_ARGUMENT");
  expect(() => readFileSync(destination)).toThrow("ENOENT");
});
