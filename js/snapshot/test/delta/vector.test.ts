/** The worked delta of `docs/vhs.md`, which the crate writes, too. */
import { readFileSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { openCache } from "../support/cache.js";

/** An image and the parts of a file, in hexadecimal digits. */
interface Vector {
  readonly image: {
    readonly size: number;
    readonly data: readonly { readonly offset: number; readonly bytes: string }[];
  };
  readonly file: readonly { readonly bytes: string }[];
}

const url = new URL("../../../../tests/cases/snapshot/vector.json", import.meta.url);
const vector = JSON.parse(readFileSync(url, "utf8")) as Vector & { readonly delta: Vector };

function imageOf({ image: { size, data } }: Vector): Buffer {
  const image = Buffer.alloc(size);
  for (const { offset, bytes } of data) image.write(bytes, offset, "hex");
  return image;
}

const fileOf = ({ file }: Vector) => file.map(({ bytes }) => bytes).join("");

const path = temporaryFolder();

test("WebAssembly writes the same delta as native code, however its changes are found", async () => {
  const [image, base, made] = [path("image"), path("disk.vhs"), path("delta.vhs")];
  writeFileSync(image, imageOf(vector));
  await createSnapshot(image, base);
  expect(readFileSync(base, "hex")).toBe(fileOf(vector));

  writeFileSync(image, imageOf(vector.delta));
  const cache = await openCache(path("cache"));
  await (await cache.get(base)).release();
  for (const options of [{}, { cache }, { changed: [{ start: 8192, end: 8195 }] }]) {
    await createSnapshot(image, made, { base, ...options });
    expect(readFileSync(made, "hex"), Object.keys(options)[0]).toBe(fileOf(vector.delta));
  }
});
