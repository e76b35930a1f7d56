/** Creating snapshots and restoring them. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { expect } from "vitest";
import { bytesOnDisk, expectSame } from "../../../../tests/support/snapshots/image.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;

/**
 * Returns a function that creates a snapshot of bytes, restores it by this package and by zstd, compares both
 * with the bytes, and describes the snapshot. Uses one worker by default.
 */
export function roundTripIn(path: (name: string) => string) {
  return async (bytes: Buffer, given: CreateOptions = {}) => {
    const options = { workers: 1, ...given };
    const { workers } = options;
    const [image, snapshot, restored] = [path("image"), path("snapshot.vhs"), path("restored")];
    writeFileSync(image, bytes);
    const { duration, ...info } = await createSnapshot(image, snapshot, options);
    const again = await restoreSnapshot(snapshot, restored, { workers });
    const file = readFileSync(snapshot);

    expect(duration).toBeGreaterThan(0);
    expect(again).toEqual({ ...info, duration: again.duration });
    expect(again.duration).toBeGreaterThan(0);
    expect(await verifySnapshot(snapshot, { workers })).toEqual(info);
    expect(await inspectSnapshot(snapshot)).toEqual(info);
    expect(info).toMatchObject({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      imageSize: bytes.length,
      holeSize: bytes.length - info.dataSize,
      fileSize: file.length,
      pieceSize: options.pieceSize ?? MIB,
    });
    expectSame(readFileSync(restored), bytes);
    const maxBuffer = 2 * bytes.length + KIB;
    const plain = execFileSync("zstd", ["-d", "-c", snapshot], { maxBuffer, stdio: "pipe" });
    expectSame(plain, bytes);
    return { ...info, diskSize: bytesOnDisk(restored), file };
  };
}
