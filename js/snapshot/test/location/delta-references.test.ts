/** Deltas of attackers, and answers of `resolve`: which files are opened, and what servers are sent. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import {
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { blake3, DELTA_START, type ForgedFields, forgeDelta } from "../support/deltas.js";
import { textsIn } from "../support/error-texts.js";
import { refusalOf } from "../support/refusal.js";
import { expectNothingLeft, originOf } from "../support/remote.js";
import { manifestOf } from "../support/resume-state.js";

const path = temporaryFolder();
const restored = path("restored");
const image = noise("image", 2 ** 17);
const OPTIONS = { workers: 1, retries: 1, connections: 2 };
const SECRET = "77e0c2aa";

let base: Buffer;
let info: SnapshotInfo;

/** The frames of the base, as those of object 1. */
let frames: ForgedFields["frames"];

beforeAll(async () => {
  writeFileSync(path("image"), image);
  info = await createSnapshot(path("image"), path("base.vhs"), { pieceSize: 2 ** 16 });
  base = readFileSync(path("base.vhs"));
  const manifest = await manifestOf(path("base.vhs"));
  frames = Array.from({ length: manifest.frames.count }, (_, index) => {
    const fileOffset = manifest.frames.fileOffset(index);
    const end = fileOffset + manifest.frames.compressedLength(index);
    const [rawLength, bytes] = [manifest.frames.rawLength(index), base.subarray(fileOffset, end)];
    return { object: 1, fileOffset, rawLength, bytes };
  });
});

beforeEach(() => rmSync(restored, { force: true }));

/** Returns a delta whose data is all in the base, at a reference. */
function deltaAt(reference: string | Buffer): Buffer {
  const identity = Buffer.from(info.digest, "hex");
  return forgeDelta({ objects: [{ identity, size: base.length, reference }], frames });
}

/** The offset of the first reference in a delta with one base object and `count` frames. */
const referenceOffset = (count: number) => DELTA_START + 8 + 40 + 48 + count * (52 + 12);

const unfit: Record<string, (url: string) => string | Buffer> = {
  "an absolute path": () => "/etc/passwd",
  "another host": (url) => url.replace(/^http:/, ""),
  "a URL": (url) => url,
  "a scheme": () => "file:base.vhs",
  "the scheme of S3": () => "s3://bucket/key",
  "a drive": () => "C:base.vhs",
  "the folder above": () => "../base.vhs",
  "the folder above, in the middle": () => "a/../../base.vhs",
  "the folder above, at the end": () => "a/..",
  "its folder": () => ".",
  "a segment that is one dot": () => "a/./base.vhs",
  "an empty segment": () => "a//base.vhs",
  "a slash at the end": () => "base.vhs/",
  "a backslash": () => "a\\base.vhs",
  "a host behind backslashes": (url) => url.replace(/^http:/, "").replaceAll("/", "\\"),
  "a line break": () => "base.vhs\r\nhost",
  "a zero": () => "base.vhs\0",
  "an escape sequence": () => "\x1b[2Jbase.vhs",
  "a control character of two bytes": () => "base\u0085.vhs",
  "bytes that are not UTF-8": () => Buffer.of(0x62, 0xff, 0x63),
  "an overlong dot": () => Buffer.of(0xc0, 0xae, 0xc0, 0xae, 0x2f, 0x62),
  "a lone surrogate": () => Buffer.of(0xed, 0xa0, 0x80),
};

/** Returns whether to try a way with a case: `npm test` tries one in `few`, and another with the next case. */
const isTried = (at: number, index: number, few: number) =>
  (at + index) % trials({ few, all: 1 }) === 0;

test.each(Object.entries(unfit))(
  "refuses a reference with %s, and requests nothing but the delta",
  async (name, make) => {
    const index = Object.keys(unfit).indexOf(name);
    const other = await originOf({ "/base.vhs": base });
    const reference = make(other.url("/base.vhs").href);
    const delta = deltaAt(reference);
    const origin = await originOf({ "/d/a.vhs": delta, "/base.vhs": base, "/d/base.vhs": base });
    writeFileSync(path("a.vhs"), delta);
    for (const source of [origin.url("/d/a.vhs"), path("a.vhs")]) {
      const calls = [
        () => inspectSnapshot(source, { retries: 1, connections: 2 }),
        () => verifySnapshot(source, OPTIONS),
        () => restoreSnapshot(source, restored, OPTIONS),
      ].filter((_, at) => isTried(at, index, 3));
      for (const call of calls) {
        const error = await refusalOf(call(), "ERR_SNAPSHOT_FORMAT");
        expect(error.field).toBe("reference");
        expect(error.offset).toBe(referenceOffset(frames.length));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals obey them.
        expect(error.message).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
      }
    }
    expect(other.requestCount).toBe(0);
    expect(origin.requests.filter((request) => request.path !== "/d/a.vhs")).toEqual([]);
    await expectNothingLeft(path(), origin);
  },
);

test("refuses a reference that is too long", async () => {
  writeFileSync(path("a.vhs"), deltaAt("a".repeat(1025)));
  const error = await refusalOf(inspectSnapshot(path("a.vhs")), "ERR_SNAPSHOT_FORMAT");
  expect(error.field).toBe("length of the reference");
  // It lies behind the identity and the size.
  expect(error.offset).toBe(DELTA_START + 8 + 40 + 32 + 8);
  expect(error.message).toMatch(/expected 0 to 1024, found 1025/);
});

const literal = [
  ...["b?c.vhs", "b#c.vhs", "%2e%2e", "%2e%2e/b.vhs", "..%2fb.vhs", "a b.vhs", "bäse—🌱.vhs"],
  ...[
    "b;c=d&e.vhs",
    "...",
    "..a/b.vhs",
    "a/b/c.vhs",
    "http/127.0.0.1/b.vhs",
    "~/b.vhs",
    "@b+c.vhs",
  ],
];

test.each(literal)(
  "takes the reference %j literally, within the folder of the delta",
  async (name) => {
    const delta = deltaAt(name);
    const asked = `/d/${name.split("/").map(encodeURIComponent).join("/")}`;
    const origin = await originOf({ "/d/a.vhs": delta, [asked]: base });
    await restoreSnapshot(origin.url("/d/a.vhs?signature#part"), restored, OPTIONS);
    expectSame(readFileSync(restored), image);
    const paths = origin.requests.map((request) => request.path);
    expect(new Set(paths)).toEqual(new Set(["/d/a.vhs", asked]));

    if (isTried(literal.indexOf(name), 0, 2)) {
      mkdirSync(path("d", name, ".."), { recursive: true });
      writeFileSync(path("d", "a.vhs"), delta);
      writeFileSync(path("d", ...name.split("/")), base);
      await restoreSnapshot(path("d", "a.vhs"), restored, { ...OPTIONS, overwrite: true });
      expectSame(readFileSync(restored), image);
      rmSync(path("d"), { recursive: true });
    }
    await expectNothingLeft(path(), origin);
  },
);

test("a delta in a file leads to files only, and one on a server to that server only", async () => {
  mkdirSync(path("127.0.0.1"));
  // The name of a local file that exists.
  const reference = path("base.vhs").slice(1);
  const origin = await originOf({ "/a.vhs": deltaAt(reference) });
  const error = await refusalOf(
    restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS),
    "ERR_SOURCE",
  );
  expect(error.status).toBe(404);
  expect(error.message).toContain(
    `base object ${info.digest} (${origin.url(`/${reference}`).href})`,
  );

  const server = await originOf({ "/base.vhs": base });
  writeFileSync(path("a.vhs"), deltaAt(`${server.url().host.replace(":", "%3a")}/base.vhs`));
  const missing = await refusalOf(restoreSnapshot(path("a.vhs"), restored, OPTIONS), "ERR_SOURCE");
  expect(missing.cause).toMatchObject({ code: "ENOENT" });
  expect(missing.message).toContain(`base object ${info.digest} (`);
  expect(server.requestCount).toBe(0);
  await expectNothingLeft(path(), origin);
});

describe("resolve", () => {
  const delta = () => deltaAt("missing.vhs");

  test("resolve says where a base object is, as a path, a URL as text, or a URL", async () => {
    const origin = await originOf({ "/a.vhs": delta(), "/elsewhere/b.vhs": base });
    writeFileSync(path("a.vhs"), delta());
    const answers = [
      path("base.vhs"),
      pathToFileURL(path("base.vhs")),
      pathToFileURL(path("base.vhs")).href,
      origin.url("/elsewhere/b.vhs"),
      origin.url("/elsewhere/b.vhs").href,
    ];
    for (const [index, source] of [path("a.vhs"), origin.url("/a.vhs")].entries()) {
      for (const answer of answers.filter((_, at) => isTried(at, index, 2))) {
        const asked: string[] = [];
        const resolve = (digest: string) => {
          asked.push(digest);
          return asked.length === 1 ? answer : Promise.resolve(answer);
        };
        await restoreSnapshot(source, restored, { ...OPTIONS, resolve, overwrite: true });
        expectSame(readFileSync(restored), image);
        expect(asked).toEqual([info.digest]);
      }
    }
    expect(origin.requests.some((request) => request.path === "/missing.vhs")).toBe(false);
  });

  test("resolve leaves a base object to its reference by the answer undefined", async () => {
    writeFileSync(path("a.vhs"), deltaAt("base.vhs"));
    for (const resolve of [() => undefined, async () => undefined]) {
      await verifySnapshot(path("a.vhs"), { ...OPTIONS, resolve });
    }
  });

  test("resolve is not called for a snapshot, or to inspect a delta", async () => {
    const resolve = () => {
      throw new Error("asked");
    };
    writeFileSync(path("a.vhs"), delta());
    await inspectSnapshot(path("a.vhs"), { resolve });
    await verifySnapshot(path("base.vhs"), { ...OPTIONS, resolve });
  });

  test.each([null, 1, {}, "", "s3:///key", "ftp://127.0.0.1/b", "http://[", ["b.vhs"]])(
    "resolve is refused the answer %j, which is no location",
    async (answer) => {
      const origin = await originOf({ "/a.vhs": delta() });
      const resolve = () => answer as string;
      const call = restoreSnapshot(origin.url("/a.vhs"), restored, { ...OPTIONS, resolve });
      const error = await refusalOf(call, "ERR_ARGUMENT");
      expect(error.message).toContain(`base object ${info.digest}: resolve: expected`);
      await expectNothingLeft(path(), origin);
    },
  );

  test("an error that resolve throws or rejects with ends the call", async () => {
    writeFileSync(path("a.vhs"), delta());
    const reason = new Error("the caller's own");
    const throws = () => {
      throw reason;
    };
    for (const resolve of [throws, () => Promise.reject(reason)]) {
      const call = restoreSnapshot(path("a.vhs"), restored, { ...OPTIONS, resolve });
      expect(await rejectionOf(call)).toBe(reason);
    }
    expect(leftovers(path())).toEqual([]);
  });

  test("an abort ends a call whose resolve never answers", async () => {
    const origin = await originOf({ "/a.vhs": delta() });
    const [controller, reason] = [new AbortController(), new Error("the caller's own")];
    const resolve = () => {
      controller.abort(reason);
      return new Promise<undefined>(() => {});
    };
    const options = { ...OPTIONS, resolve, signal: controller.signal };
    const error = await rejectionOf(restoreSnapshot(origin.url("/a.vhs"), restored, options));
    expect(error).toBe(reason);
    await expectNothingLeft(path(), origin);
  });

  test("a base object without a reference needs resolve", async () => {
    writeFileSync(path("a.vhs"), deltaAt(""));
    const error = await refusalOf(restoreSnapshot(path("a.vhs"), restored, OPTIONS), "ERR_SOURCE");
    expect(error.message).toMatch(new RegExp(`base object ${info.digest} .* pass resolve`));
    await restoreSnapshot(path("a.vhs"), restored, {
      ...OPTIONS,
      resolve: () => path("base.vhs"),
    });
    expectSame(readFileSync(restored), image);
  });
});

describe("secrets", () => {
  const HEADERS = { Authorization: `Bearer ${SECRET}`, "X-Token": SECRET };

  test("secrets go to the base objects on the server of the delta", async () => {
    const origin = await originOf({ "/a.vhs": deltaAt("base.vhs"), "/base.vhs": base });
    const url = origin.url("/a.vhs");
    await restoreSnapshot(url, restored, { ...OPTIONS, headers: HEADERS });
    url.username = url.password = SECRET;
    await restoreSnapshot(url, restored, { ...OPTIONS, overwrite: true });
    const user = `Basic ${Buffer.from(`${SECRET}:${SECRET}`).toString("base64")}`;
    const sent = origin.requests
      .filter((request) => request.path === "/base.vhs")
      .map(({ headers }) => headers.authorization);
    expect(new Set(sent)).toEqual(new Set([HEADERS.Authorization, user]));
  });

  test("secrets do not go to another origin that resolve names", async () => {
    const other = await originOf({ "/b.vhs": base });
    const origin = await originOf({ "/a.vhs": deltaAt("base.vhs") });
    const url = origin.url(`/a.vhs?${SECRET}`);
    const resolve = () => other.url("/b.vhs");
    await restoreSnapshot(url, restored, { ...OPTIONS, headers: HEADERS, resolve });
    url.username = url.password = SECRET;
    await verifySnapshot(url, { ...OPTIONS, resolve });
    expectSame(readFileSync(restored), image);
    expect(other.requestCount).toBeGreaterThan(2);
    for (const request of other.requests) expect(textsIn(request)).not.toContain(SECRET);
    for (const { headers } of other.requests) expect(headers.authorization).toBeUndefined();
  });

  test("secrets for a destination do not go to the base objects of a base", async () => {
    const other = await originOf({ "/a.vhs": deltaAt("base.vhs"), "/base.vhs": base });
    const origin = await originOf({});
    const changed = Buffer.from(image);
    changed.writeUInt8(changed.readUInt8(0) ^ 1, 0);
    writeFileSync(path("changed"), changed);
    const options = { ...OPTIONS, headers: HEADERS, base: other.url("/a.vhs") };
    await createSnapshot(path("changed"), origin.url("/b.vhs"), options);
    expect(other.requests.some((request) => request.path === "/base.vhs")).toBe(true);
    for (const request of other.requests) expect(textsIn(request)).not.toContain(SECRET);
    for (const { headers } of origin.requests) expect(headers["x-token"]).toBe(SECRET);
  });

  test("headers go where resolve says, if the delta is a file", async () => {
    const other = await originOf({ "/b.vhs": base });
    writeFileSync(path("a.vhs"), deltaAt("base.vhs"));
    const resolve = () => other.url("/b.vhs");
    await restoreSnapshot(path("a.vhs"), restored, { ...OPTIONS, headers: HEADERS, resolve });
    expectSame(readFileSync(restored), image);
    for (const { headers } of other.requests) expect(headers["x-token"]).toBe(SECRET);
  });

  test("secrets do not follow a redirect of a base object to another origin", async () => {
    const other = await originOf({ "/b.vhs": base });
    const origin = await originOf({ "/a.vhs": deltaAt("base.vhs") });
    origin.faults = ({ path }) =>
      path === "/base.vhs" ? { location: other.url("/b.vhs").href } : undefined;
    await restoreSnapshot(origin.url("/a.vhs"), restored, { ...OPTIONS, headers: HEADERS });
    expectSame(readFileSync(restored), image);
    for (const request of other.requests) expect(textsIn(request)).not.toContain(SECRET);
    for (const { headers } of origin.requests) expect(headers["x-token"]).toBe(SECRET);
    await expectNothingLeft(path(), other);
  });

  test("the base objects of a delta that is redirected are on the first server", async () => {
    const other = await originOf({ "/c/d.vhs": deltaAt("base.vhs") });
    const origin = await originOf({ "/base.vhs": base });
    origin.faults = ({ path }) =>
      path === "/a.vhs" ? { location: other.url("/c/d.vhs").href } : undefined;
    await restoreSnapshot(origin.url("/a.vhs"), restored, { ...OPTIONS, headers: HEADERS });
    expectSame(readFileSync(restored), image);
    expect(other.requests.every((request) => request.path === "/c/d.vhs")).toBe(true);
  });

  test("secrets do not appear in errors about base objects", async () => {
    const origin = await originOf({ "/a.vhs": deltaAt("base.vhs") });
    const url = origin.url(`/a.vhs?${SECRET}`);
    url.username = url.password = SECRET;
    const error = await refusalOf(restoreSnapshot(url, restored, OPTIONS), "ERR_SOURCE");
    expect(error.message).toContain(`base object ${info.digest} (${origin.url("/base.vhs").href})`);
    expect(textsIn(error)).not.toContain(SECRET);
  });
});

describe("circles", () => {
  test("a delta that refers to its own file reads the frames in it, and nothing more", async () => {
    const own = frames.map((frame) => ({ ...frame, object: 0 }));
    const size = deltaAt("a.vhs").length + own.reduce((sum, { bytes }) => sum + bytes.length, 0);
    // The own frames are object 0; the same bytes follow as frames of object 1, which is the same file.
    let fileOffset = DELTA_START;
    const again = own.map((frame) => {
      const found = { ...frame, object: 1, fileOffset };
      fileOffset += frame.bytes.length;
      return found;
    });
    const placed = again.map((frame) => ({ ...frame, object: 0 }));
    const all = { objects: [{ reference: "a.vhs", size }], frames: [...placed, ...again] };
    const objects = [{ reference: "a.vhs", size: forgeDelta(all).length }];
    const delta = forgeDelta({ ...all, objects });
    const origin = await originOf({ "/a.vhs": delta });
    await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
    expectSame(readFileSync(restored), Buffer.concat([image, image]));
    expect(origin.requestCount).toBeLessThan(10);
  });

  test("two deltas that refer to each other are not followed: only frames are read of a base object", async () => {
    const [one, other] = ["b.vhs", "a.vhs"].map((reference) => deltaAt(reference));
    const origin = await originOf({ "/a.vhs": one!, "/b.vhs": other! });
    const call = restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
    const error = await refusalOf(call, "ERR_SNAPSHOT_DIGEST");
    expect(error.message).toContain(`expected ${base.length} bytes, found ${other!.length}`);
    expect(origin.requestCount).toBeLessThan(5);
  });
});

describe("counts beyond the limits", () => {
  const counts: Record<string, [Partial<ForgedFields>, string]> = {
    "base objects": [{ objectCount: 9 }, "base object count"],
    "base objects that are not there": [{ objectCount: 8 }, "length"],
    frames: [{ frameCount: 2 ** 20 + 1 }, "frame count"],
    "frames that are not there": [{ frameCount: 2 ** 20 }, "length"],
    mappings: [{ mappingCount: 2 ** 22 + 1 }, "mapping count"],
    "mappings that are not there": [{ mappingCount: 2 ** 22 }, "length"],
    "the image": [{ imageSize: 2 ** 44 + 1 }, "image size"],
    "an image that is not there": [{ imageSize: 2 ** 44 }, "end of the mappings"],
    pieces: [{ pieceSize: 2 ** 25 }, "piece size"],
    "no depth": [{ depth: 0 }, "depth"],
  };

  test.each(Object.entries(counts))(
    "a delta with a count beyond the limits is refused before memory is taken: %s",
    async (_, given) => {
      const [fields, field] = given;
      const objects = [{ reference: "base.vhs", size: base.length, identity: blake3(base) }];
      writeFileSync(path("a.vhs"), forgeDelta({ objects, frames, ...fields }));
      const before = process.memoryUsage.rss();
      const error = await refusalOf(
        restoreSnapshot(path("a.vhs"), restored, OPTIONS),
        "ERR_SNAPSHOT_FORMAT",
      );
      expect(error.field).toContain(field);
      expect(error.offset).toBeGreaterThan(0);
      // Memory for the tables alone would be tens of megabytes.
      expect(process.memoryUsage.rss() - before).toBeLessThan(2 ** 25);
      expect(leftovers(path())).toEqual([]);
    },
  );
});
