// Uses a disk at random, one operation at a time, beside a flush that may be running. Takes one argument: the source,
// the options and the seed, as JSON.
// Prints each operation when it begins and when it is acknowledged: `begin 7 write 8192 512`, `end 7`.
import { writeSync } from "node:fs";

import { openSnapshot } from "@hedgerow/snapshot";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { contentOf, SECTOR } from "./power-content.mjs";

const { source, options, seed, steps } = JSON.parse(process.argv[2] ?? "");
const random = seededRandom(seed);
const below = (/** @type {number} */ count) => Math.floor(random() * count);

const disk = await openSnapshot(source, options);
/** A flush that began before the last writes. */
let running = Promise.resolve();
const sectors = Math.floor(disk.size / SECTOR);
for (let step = 1; step <= steps; step += 1) {
  // Mostly near each other, so that blocks change several times.
  const first = random() < 0.7 ? below(64) : below(sectors);
  const count = Math.min(1 + below(24), sectors - first);
  const [offset, length] = [first * SECTOR, count * SECTOR];
  const kind = ["write", "write", "write", "zero", "read", "flush"][below(6)] ?? "flush";
  if (random() < 0.3) running = disk.flush();
  writeSync(1, `begin ${step} ${kind} ${offset} ${length}\n`);
  if (kind === "write") await disk.write(offset, contentOf(step, first, count));
  else if (kind === "zero") await disk.write(offset, Buffer.alloc(length));
  else if (kind === "read") await disk.read(offset, length);
  else await disk.flush();
  writeSync(1, `end ${step}\n`);
  if (options.fill === "all" && step === steps >> 1) await disk.filled;
}
await running;
if (options.fill === "all") await disk.filled;
await disk.close();
