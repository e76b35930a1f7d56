/** Reading snapshots at any offset, by code that also runs in browsers. */
import {
  type FrameInfo,
  type ReaderSource,
  SnapshotReader,
  type VerifyReaderOptions,
} from "@hedgerow/snapshot/reader";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Fault } from "../../../../tests/origin/fault.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise, steps } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { Random } from "../../../edge/test/support/random.js";
import { changed, randomImage } from "../support/changes.js";
import { DELTA_START, forgeDelta } from "../support/deltas.js";
import { textsIn } from "../support/error-texts.js";
import { blobOf, countedOf, flipped, makeSample, type Sample } from "../support/reader-samples.js";
import { refusalOf } from "../support/refusal.js";
import { originOf } from "../support/remote.js";

const [KIB, MIB] = [2 ** 10, 2 ** 20];
const SECRET = "5ec2e7aa";
const SEED = 6;
const path = temporaryFolder();

const framesOf = (reader: SnapshotReader): FrameInfo[] =>
  Array.from({ length: reader.frameCount }, (_, index) => reader.frame(index));

/** Data, holes, and data, in a delta of a snapshot. */
let [full, delta] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  const image = Buffer.concat([noise("a", 12 * KIB), Buffer.alloc(200 * KIB), noise("b", 5000)]);
  const other = Buffer.from(image);
  noise("c", 5000).copy(other, 5000);
  full = await makeSample(path, [image], 4 * KIB);
  delta = await makeSample(path, [image, other], 4 * KIB);
});

// Dozens of chains of deltas are created.
const LIMIT = minutes({ all: 2 });

test(
  `reads any bytes of random snapshots and deltas, and only the frames that hold them (seed ${SEED})`,
  LIMIT,
  async () => {
    const random = new Random(SEED);
    for (let round = 0; round < trials({ few: 4, all: 30 }); round += 1) {
      const images = [randomImage(random, 600 * KIB)];
      while (random.below(3) > 0 && images.length < 4) images.push(changed(random, images.at(-1)!));
      const sample = await makeSample(path, images, 4 * KIB * 2 ** random.below(7));
      const { image, file, files, known } = sample;
      const origin = await originOf(files);
      const reads: number[] = [];
      const resolve = (digest: string) => countedOf(known.get(digest)!, reads);
      const counted = await SnapshotReader.open(countedOf(file, reads), { resolve });
      const others = [
        await SnapshotReader.open(...blobOf(sample)),
        await SnapshotReader.open(origin.url(`/${images.length - 1}.vhs`)),
      ];
      for (let count = 0; count < 12; count += 1) {
        // Half of them begin where segments may begin.
        const unit = [1, 4 * KIB][count % 2]!;
        const offset = unit * random.below(Math.floor(image.length / unit) + 1);
        const end =
          offset + random.below(Math.min(image.length - offset, 2 ** random.below(20)) + 1);
        const about = `round ${round}, ${offset} to ${end} of ${image.length}`;
        reads.length = 0;
        const bytes = [await counted.read(offset, end - offset)];
        for (const reader of others) bytes.push(await reader.read(offset, end - offset));
        for (const found of bytes) {
          expect(image.subarray(offset, end).equals(found), about).toBe(true);
        }
        const isWanted = ({ segments }: FrameInfo) =>
          segments.some((one) => one.imageOffset < end && one.imageOffset + one.length > offset);
        const wanted = end > offset ? framesOf(counted).filter(isWanted) : [];
        const sum = (lengths: number[]) => lengths.reduce((all, length) => all + length, 0);
        expect(sum(reads), about).toBe(sum(wanted.map(({ compressedLength }) => compressedLength)));
      }
      for (const reader of [counted, ...others]) await reader.verify();
    }
  },
);

test("opens with two requests, and reads adjacent frames with one, of up to 4 MiB", async () => {
  const { files, image } = await makeSample(path, [noise("frames", 5 * MIB)], MIB);
  const origin = await originOf(files);
  const reader = await SnapshotReader.open(origin.url("/0.vhs"));
  const frames = framesOf(reader);
  expect(frames).toHaveLength(5);
  expect(origin.requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
  const asked = () => origin.requests.splice(0).map(({ headers }) => headers.range);
  const rangeOf = (first: number, last: number) => {
    const { offset, compressedLength } = frames[last]!;
    return `bytes=${frames[first]!.offset}-${offset + compressedLength - 1}`;
  };
  asked();
  expectSame(Buffer.from(await reader.read(MIB - 1, 2)), image.subarray(MIB - 1, MIB + 1));
  expect(asked()).toEqual([rangeOf(0, 1)]);
  // Four frames of random bytes, and what zstd adds, are longer than 4 MiB.
  await reader.verify();
  expect(asked()).toEqual([rangeOf(0, 2), rangeOf(3, 4)]);
});

describe("verify", () => {
  const verified = async (sample: Sample, options?: VerifyReaderOptions) =>
    (await SnapshotReader.open(...blobOf(sample))).verify(options);

  test("passes for an image of nothing, of which nothing can be read", async () => {
    const empty = await makeSample(path, [Buffer.alloc(0)], 4 * KIB);
    await verified(empty);
    const reader = await SnapshotReader.open(...blobOf(empty));
    expect(await reader.read(0, 0)).toHaveLength(0);
    await refusalOf(reader.read(0, 1), "ERR_ARGUMENT");
  });

  test("finds a flipped bit anywhere in a snapshot or delta", async () => {
    for (const sample of [full, delta]) {
      for (const at of steps(sample.file.length, trials({ few: 17, all: 1 }))) {
        const damaged = { ...sample, file: flipped(sample.file, at) };
        await refusalOf(verified(damaged), "ERR_SNAPSHOT_FORMAT");
      }
    }
  });

  test("finds damage that reading skips: in hole frames, and in the checksums of zstd", async () => {
    const frames = framesOf(await SnapshotReader.open(...blobOf(full)));
    const { offset } = frames.find(({ isHole }) => isHole)!;
    const bytes = full.file.subarray(frames[0]!.offset, frames[1]!.offset);
    const frame = { object: 0, fileOffset: DELTA_START, rawLength: 4 * KIB };
    const wrong = [{ ...frame, bytes: flipped(bytes, bytes.length - 1) }];
    for (const file of [
      flipped(full.file, offset + 10),
      forgeDelta({ objects: [], frames: wrong }),
    ]) {
      const reader = await SnapshotReader.open(new Blob([Buffer.from(file)]));
      const { imageSize } = reader.info;
      const found = await reader.read(0, imageSize);
      expectSame(Buffer.from(found), full.image.subarray(0, imageSize));
      await refusalOf(reader.verify(), "ERR_SNAPSHOT_FORMAT");
    }
  });

  test("finds damage in the frames of base objects that a delta uses", async () => {
    const shared = framesOf(await SnapshotReader.open(...blobOf(delta))).filter(
      ({ object }) => object === 1,
    );
    expect(shared.length).toBeGreaterThan(1);
    for (const { offset, compressedLength } of shared) {
      const base = flipped(delta.files["/0.vhs"]!, offset + Math.floor(compressedLength / 2));
      const damaged = { ...delta, known: new Map([...delta.known].map(([id]) => [id, base])) };
      await refusalOf(verified(damaged), "ERR_SNAPSHOT_FORMAT");
    }
  });

  test("reports each frame, and ends when it is aborted", async () => {
    const seen: number[] = [];
    await verified(full, { onFrame: (count) => seen.push(count) });
    const { frameCount } = await SnapshotReader.open(...blobOf(full));
    expect(seen).toEqual(Array.from({ length: frameCount }, (_, index) => index + 1));
    for (const last of [1, frameCount]) {
      const controller = new AbortController();
      let count = 0;
      const onFrame = (verified: number) => {
        count = verified;
        if (verified === last) controller.abort("enough");
      };
      const { signal } = controller;
      expect(await rejectionOf(verified(full, { signal, onFrame }))).toBe("enough");
      expect(count).toBe(last);
    }
  });
});

test("an aborted signal ends opening, reading and waiting for a base object", async () => {
  const [blob, options] = blobOf(delta);
  const origin = await originOf(delta.files, { faults: () => ({ noAnswer: true }) });
  const never = () => new Promise<never>(() => {});
  const signals = () => ({ signal: AbortSignal.timeout(50) });
  const hung = { ...countedOf(full.file, []), read: never };
  const waiting = await SnapshotReader.open(blob, { resolve: never });
  for (const call of [
    () => SnapshotReader.open(origin.url("/1.vhs"), signals()),
    () => SnapshotReader.open(hung, signals()),
    () => waiting.read(0, 50_000, signals()),
    () => SnapshotReader.open(blob, { ...options, signal: AbortSignal.abort() }),
    () => waiting.verify({ signal: AbortSignal.abort() }),
  ]) {
    expect(await rejectionOf(call())).toMatchObject({ name: /TimeoutError|AbortError/ });
  }
});

describe("servers", () => {
  const faults: Record<string, [Fault, { code: string; status?: number }]> = {
    "ignores ranges": [{ ignoreRange: true }, { code: "ERR_SOURCE", status: 200 }],
    "sends fewer bytes": [{ extraBytes: -5 }, { code: "ERR_SOURCE" }],
    "closes the connection": [{ cutAfter: 0 }, { code: "ERR_SOURCE" }],
    "sends another range": [{ contentRange: "shifted" }, { code: "ERR_SOURCE_CHANGED" }],
    "tells another size": [{ contentRange: "wrong total" }, { code: "ERR_SOURCE_CHANGED" }],
    "has another ETag": [{ etag: '"other"' }, { code: "ERR_SOURCE_CHANGED" }],
    "has a shorter file": [{ content: Buffer.alloc(9) }, { code: "ERR_SOURCE_CHANGED" }],
    "has no such file": [{ status: 404 }, { code: "ERR_SOURCE", status: 404 }],
    "flips a bit": [{ flipBit: 100 }, { code: "ERR_SNAPSHOT_FORMAT" }],
  };

  test("one that is overloaded is asked up to seven times", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const origin = await originOf(full.files);
    const reader = await SnapshotReader.open(origin.url("/0.vhs"));
    const before = origin.requestCount;
    let left = 6;
    origin.faults = () => (left-- > 0 ? { status: 503 } : undefined);
    expectSame(Buffer.from(await reader.read(0, 1)), full.image.subarray(0, 1));
    expect(origin.requestCount - before).toBe(7);
    left = 7;
    expect((await refusalOf(reader.read(0, 1), "ERR_SOURCE")).status).toBe(503);
    expect(origin.requestCount - before).toBe(14);
  });

  test("are asked past the cache of the browser, which may hold another version", async () => {
    const origin = await originOf(full.files, { faults: () => ({ contentRange: "none" }) });
    const asked: unknown[] = [];
    const send: typeof fetch = (url, init) => {
      asked.push([init?.method ?? "GET", init?.cache]);
      return fetch(url, init);
    };
    await SnapshotReader.open(origin.url("/0.vhs"), { fetch: send });
    expect(asked).toEqual(["GET", "HEAD", "GET"].map((method) => [method, "no-store"]));
  });

  test.each(Object.entries(faults))(
    "one that %s fails a read, and not the next",
    async (_, how) => {
      const [fault, expected] = how;
      const origin = await originOf(full.files);
      const url = origin.url(`/0.vhs?token=${SECRET}`);
      const reader = await SnapshotReader.open(url);
      origin.faults = () => fault;
      const error = await rejectionOf(reader.read(0, full.image.length));
      expect(error).toMatchObject({ name: "SnapshotError", status: undefined, ...expected });
      expect((error as Error).message).toContain(origin.url("/0.vhs").href);
      expect(textsIn(error)).not.toContain(SECRET);
      origin.faults = undefined;
      expectSame(Buffer.from(await reader.read(0, full.image.length)), full.image);
    },
  );

  test("are asked for the size if they do not show it", async () => {
    const origin = await originOf(full.files, { faults: () => ({ contentRange: "none" }) });
    await (await SnapshotReader.open(origin.url("/0.vhs"))).verify();
    expect(origin.requests.map(({ method }) => method).slice(0, 3)).toEqual(["GET", "HEAD", "GET"]);
    origin.faults = ({ method }) =>
      method === "HEAD" ? { status: 403 } : { contentRange: "none" };
    const error = await refusalOf(SnapshotReader.open(origin.url("/0.vhs")), "ERR_SOURCE");
    expect(error.status).toBe(403);
  });

  test("cannot make a reader hold an endless response, or show a secret", async () => {
    let isCancelled = false;
    const endless = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(KIB)),
        cancel: () => {
          isCancelled = true;
        },
      });
    const url = `https://disks.example/a.vhs?v=${SECRET}`;
    const shifted = { status: 206, headers: { "content-range": "bytes 7-8/99" } };
    const fail = () => new Error(`no connection to ${url}`);
    for (const [fetch, message] of [
      [async () => new Response(endless(), { status: 206 }), "found more"],
      [async () => new Response("ab", shifted), "found those at 7"],
      [() => Promise.reject(fail()), "not shown"],
      [
        () => {
          throw fail();
        },
        "not shown",
      ],
      [async () => undefined as unknown as Response, "undefined"],
    ] as const) {
      const error = await refusalOf(SnapshotReader.open(url, { fetch }), "ERR_SOURCE");
      expect(error.message).toContain(message);
      expect(textsIn(error)).not.toContain(SECRET);
    }
    expect(isCancelled).toBe(true);
  });

  test("a base object that is missing or another file is an error until it is found", async () => {
    const { image, files } = delta;
    const origin = await originOf({ "/1.vhs": delta.file });
    let answer: ReaderSource | undefined;
    const reader = await SnapshotReader.open(origin.url("/1.vhs"), { resolve: () => answer });
    const read = () => reader.read(0, image.length);
    expect((await refusalOf(read(), "ERR_SOURCE")).status).toBe(404);
    answer = new Blob([Buffer.from(files["/0.vhs"]!.subarray(1))]);
    expect((await refusalOf(read(), "ERR_SNAPSHOT_DIGEST")).message).toContain("base object");
    for (const wrong of [null, 1, "", {}]) {
      answer = wrong as unknown as Blob;
      await refusalOf(read(), "ERR_ARGUMENT");
    }
    answer = undefined;
    origin.set("/0.vhs", files["/0.vhs"]!);
    expectSame(Buffer.from(await read()), image);
    const [blob] = blobOf(delta);
    const alone = await SnapshotReader.open(blob);
    expect((await refusalOf(alone.verify(), "ERR_SOURCE")).message).toContain("pass resolve");
  });
});
