/** Content that is cut into parts for S3. */
import { expect, test } from "vitest";

import { expectSame, noise } from "../../../tests/support/snapshots/image.js";
import { trials } from "../../../tests/support/trials.js";
import { type Content, type CopySource, sizeOf } from "../dist/s3/content.js";
import { cutParts } from "../dist/s3/cut-parts.js";
import { MIN_PART_SIZE } from "../dist/s3/limits.js";

const MIB = 2 ** 20;

/** Objects, by their key. */
type Objects = Map<string, Buffer>;

async function bytesOf(content: Content, objects: Objects): Promise<Buffer> {
  if (content instanceof Uint8Array) return Buffer.from(content);
  const { location } = await content.source;
  return objects.get(location.key)!.subarray(content.start, content.end);
}

async function joined(contents: readonly Content[], objects: Objects): Promise<Buffer> {
  return Buffer.concat(await Promise.all(contents.map((content) => bytesOf(content, objects))));
}

const base = noise("base", 24 * MIB);

const source = (key: string): CopySource => ({ location: { bucket: "b", key }, etag: undefined });

test.each(Array.from({ length: trials({ few: 8, all: 150 }) }, (_, seed) => seed))(
  "cuts content into parts that are large enough, with seed %i",
  async (seed) => {
    const dice = noise(`parts ${seed}`, 256);
    const roll = (at: number, end: number) => dice.readUInt32LE(4 * at) % end;
    const objects: Objects = new Map([["base", base]]);
    // The first content is large enough, as the caller promises.
    const contents: Content[] = [noise("first", MIN_PART_SIZE)];
    for (let count = 1; count <= roll(0, 15); count += 1) {
      const size = [1, MIB, 5 * MIB, 11 * MIB][roll(4 * count, 4)]! + roll(4 * count + 1, 5);
      if (roll(4 * count + 2, 2) === 0) {
        contents.push(noise(`${count}`, size));
        continue;
      }
      const start = roll(4 * count + 3, 24 * MIB - size);
      contents.push({ source: source("base"), start, end: start + size });
    }
    contents.push(noise("last", 100));
    const expectParts = (parts: readonly Content[]) => {
      for (const part of parts.slice(0, -1))
        expect(sizeOf(part)).toBeGreaterThanOrEqual(MIN_PART_SIZE);
    };
    const parts: Content[] = [];
    const stream = (async function* () {
      yield* contents;
    })();
    const join = async (inner: readonly Content[]) => {
      expectParts(inner);
      const key = `temporary ${objects.size} ${Math.random()}`;
      objects.set(key, await joined(inner, objects));
      return source(key);
    };
    for await (const part of cutParts(stream, { partSize: 8 * MIB, join })) parts.push(part);
    expectParts(parts);
    expectSame(await joined(parts, objects), await joined(contents, objects));
  },
);
