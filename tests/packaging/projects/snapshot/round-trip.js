// Creates a snapshot of an image with two workers and restores it: `node round-trip.js FOLDER`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";

async function main() {
  const folder = process.argv[2];
  const [image, snapshot, restored] = ["image", "image.vhs", "restored"].map((name) =>
    join(folder, name),
  );
  const content = Buffer.from(
    Uint32Array.from({ length: 2 ** 20 }, (_, index) => index ** 2).buffer,
  );
  writeFileSync(image, content);
  const { digest } = await createSnapshot(image, snapshot, { workers: 2 });
  await restoreSnapshot(snapshot, restored, { digest, workers: 2 });
  const isSame = readFileSync(restored).equals(content);
  console.log(JSON.stringify({ isSame, size: content.length }));
}

main();
