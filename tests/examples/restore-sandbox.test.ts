/** The example script that creates, stops and resumes sandboxes, with an S3 server. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createSnapshot, inspectSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type S3Server, startS3 } from "../support/s3/server.js";
import { noise, steps, writeSparse } from "../support/snapshots/image.js";
import { startProxy } from "../support/snapshots/proxy.js";

const SCRIPT = fileURLToPath(
  new URL("../../examples/restore-sandbox/src/sandbox.mjs", import.meta.url),
);
const MIB = 2 ** 20;

const root = mkdtempSync(join(tmpdir(), "hedgerow-sandboxes-"));
const folder = join(root, "sandboxes");
const image = join(folder, "one.img");
let runs = 0;
let s3: S3Server;
let options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv };

beforeAll(async () => {
  s3 = await startS3();
  const env = {
    ...process.env,
    SANDBOX_BUCKET: s3.bucket,
    AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    AWS_REGION: s3.region,
    AWS_ENDPOINT_URL_S3: s3.endpoint.href,
  };
  options = { cwd: root, env };
  mkdirSync(folder);
});
afterAll(async () => {
  await s3?.close();
  rmSync(root, { recursive: true, force: true });
});

interface Ended {
  readonly code: unknown;
  readonly out: string;
  readonly err: string;
}

/** Runs the script to its end, in its own process. */
function sandboxProcess(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], options, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    );
  });
}

/** Runs the script to its end, in the process of the test, which saves the start of Node. */
const sandbox = (...args: string[]) => sandboxIn({}, ...args);

/** Does the same with further environment variables. */
async function sandboxIn(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> {
  const ended = { out: "", err: "" };
  const { argv, env: envBefore } = process;
  const [folderBefore, listeners] = [process.cwd(), process.listeners("SIGINT")];
  const capture = (stream: "out" | "err") => (text: unknown) => {
    ended[stream] += `${text}\n`;
  };
  vi.spyOn(console, "log").mockImplementation(capture("out"));
  vi.spyOn(console, "error").mockImplementation(capture("err"));
  process.argv = [process.execPath, SCRIPT, ...args];
  process.env = { ...options.env, ...env };
  process.exitCode = undefined;
  process.chdir(root);
  runs += 1;
  try {
    // A module runs once for each URL.
    await import(/* @vite-ignore */ `${pathToFileURL(SCRIPT)}?${runs}`);
    return { code: process.exitCode ?? 0, ...ended };
  } finally {
    vi.restoreAllMocks();
    process.chdir(folderBefore);
    Object.assign(process, { argv, env: envBefore, exitCode: undefined });
    for (const listener of process.listeners("SIGINT")) {
      if (!listeners.includes(listener)) process.off("SIGINT", listener);
    }
  }
}

/** Creates the disk of a sandbox, in which every other MiB is a hole, and returns its content. */
function makeDisk(seed: string, mebibytes: number): Buffer {
  const write = (offset: number) => noise(`${seed} ${offset}`, MIB);
  writeSparse(image, mebibytes * MIB, steps(mebibytes * MIB, 2 * MIB), write);
  return readFileSync(image);
}

test("stops and resumes a sandbox repeatedly", async () => {
  const rounds = { first: sandboxProcess, second: sandbox };
  for (const [seed, sandbox] of Object.entries(rounds)) {
    const disk = makeDisk(seed, 24);
    expect(await sandbox("list")).toMatchObject({ code: 0, out: "one: running\n" });
    expect(await sandbox("stop", "one")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^one: stopped, 25165824 bytes saved as 12\d{6}\n$/),
    });
    expect(readdirSync(folder)).toEqual(["one.json"]);
    expect(s3.objects()).toEqual(["sandboxes/one.vhs"]);
    expect(await sandbox("list")).toMatchObject({ code: 0, out: "one: stopped\n" });
    expect(await sandbox("resume", "one")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^one: resumed, 25165824 bytes in \d+ ms\n$/),
    });
    expect(readFileSync(image).equals(disk)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(["one.img", "one.json"]);
  }
});

test("refuses to resume a running sandbox, and leaves its disk as it is", async () => {
  const disk = makeDisk("running", 4);
  const { code, err } = await sandbox("resume", "one");
  expect(code).toBe(1);
  expect(err).toContain("already exists; pass overwrite: true to replace it");
  expect(readFileSync(image).equals(disk)).toBe(true);
});

test("keeps the image until its snapshot is complete", async () => {
  const disk = makeDisk("interrupted", 128);
  // Withholding the responses to parts keeps the upload from ending before the signal.
  const isPart = ({ url = "" }) => url.includes("partNumber=");
  const forever = { delay: new Promise(() => {}) };
  await using proxy = await startProxy(s3.endpoint, (request) =>
    isPart(request) ? forever : undefined,
  );
  const env = { ...options.env, AWS_ENDPOINT_URL_S3: proxy.endpoint.href };
  const args = [SCRIPT, "stop", "one"];
  const child = spawn(process.execPath, args, { ...options, env, stdio: "ignore" });
  const exit = once(child, "exit");
  const isSending = () => proxy.requests.some((line) => line.includes("partNumber="));
  await vi.waitUntil(isSending, { timeout: 20_000, interval: 5 });
  expect(s3.multipartUploads()).toMatchObject([{ key: "sandboxes/one.vhs" }]);
  child.kill("SIGINT");
  expect(await exit).toEqual([1, null]);
  expect(s3.multipartUploads()).toEqual([]);
  expect(readFileSync(image).equals(disk)).toBe(true);
});

test("resumes only the snapshot that was stopped", async () => {
  makeDisk("mine", 4);
  expect(await sandbox("stop", "one")).toMatchObject({ code: 0 });
  const { digest } = await inspectSnapshot(join(s3.folder, "sandboxes", "one.vhs"));
  const note = JSON.parse(readFileSync(join(folder, "one.json"), "utf8"));
  expect(note).toEqual({ digest, imageSize: 4 * MIB });
  makeDisk("of someone else", 4);
  const { endpoint, region, credentials } = s3;
  const other = await createSnapshot(image, `s3://${s3.bucket}/sandboxes/one.vhs`, {
    s3: { endpoint, region, credentials },
  });
  rmSync(image);
  const { code, err } = await sandbox("resume", "one");
  expect(code).toBe(1);
  expect(err).toContain(`expected the snapshot of digest ${digest}, found ${other.digest}`);
  expect(readdirSync(folder)).toEqual(["one.json"]);
});

describe("a base image", () => {
  const disks = () => readdirSync(folder).filter((name) => name.endsWith(".img"));
  const [base, note] = [join(root, "base.img"), join(root, "bases", "debian.json")];
  const diskOf = (name: string) => readFileSync(join(folder, `${name}.img`));

  /** Creates a base image, and uploads its snapshot to the bucket. */
  async function publish(seed: string): Promise<{ disk: Buffer; digest: string }> {
    const write = (offset: number) => noise(`${seed} ${offset}`, MIB);
    writeSparse(base, 16 * MIB, steps(16 * MIB, 2 * MIB), write);
    const { endpoint, region, credentials } = s3;
    const { digest } = await createSnapshot(base, `s3://${s3.bucket}/bases/debian.vhs`, {
      s3: { endpoint, region, credentials },
    });
    return { disk: readFileSync(base), digest };
  }

  test("fetches a base image once, and creates further sandboxes from it without a network", async () => {
    for (const name of disks()) rmSync(join(folder, name));
    const { disk, digest } = await publish("base");
    expect(await sandbox("create", "first", "debian")).toMatchObject({
      code: 0,
      out: "first: created from debian, 16777216 bytes, fetched\n",
    });
    expect(JSON.parse(readFileSync(note, "utf8"))).toEqual({ digest });
    // Changing the object in the bucket does not change the base of new sandboxes.
    await publish("of someone else");
    const offline = { AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1" };
    expect(await sandboxIn(offline, "create", "second", "debian")).toMatchObject({
      code: 0,
      out: "second: created from debian, 16777216 bytes, from the cache\n",
    });
    expect(disks().sort()).toEqual(["first.img", "second.img"]);
    for (const name of ["first", "second"]) expect(diskOf(name).equals(disk)).toBe(true);
    // Writing to one sandbox does not change the others.
    writeFileSync(join(folder, "first.img"), "changed");
    expect(await sandboxIn(offline, "create", "third", "debian")).toMatchObject({ code: 0 });
    expect(diskOf("third").equals(disk)).toBe(true);
    expect(diskOf("second").equals(disk)).toBe(true);
  });

  test("refuses to create a sandbox from a base image under a name in use", async () => {
    const disk = diskOf("second");
    const running = await sandbox("create", "second", "debian");
    expect(running.code).toBe(1);
    expect(running.err).toContain("already exists; pass overwrite: true to replace it");
    expect(diskOf("second").equals(disk)).toBe(true);
    expect(await sandbox("stop", "second")).toMatchObject({ code: 0 });
    expect(await sandbox("create", "second", "debian")).toMatchObject({
      code: 1,
      err: "second: a sandbox with this name exists; choose another name\n",
    });
    expect(await sandbox("resume", "second")).toMatchObject({ code: 0 });
    expect(diskOf("second").equals(disk)).toBe(true);
  });

  test("creates no sandbox from a base image that is not in the bucket", async () => {
    const { code, err } = await sandbox("create", "fourth", "missing");
    expect(code).toBe(1);
    expect(err).toContain("missing.vhs");
    expect(disks()).not.toContain("fourth.img");
    expect(readdirSync(join(root, "bases"))).toEqual(["debian.json"]);
  });
});

test("explains invalid commands and missing images", async () => {
  const wrong = [[], ["restart", "one"], ["stop"], ["stop", "../one"], ["create", "one"]];
  for (const args of [...wrong, ["create", "one", "../base"]]) {
    expect(await sandbox(...args)).toMatchObject({
      code: 1,
      err: "expected: create NAME BASE, stop NAME, resume NAME, or list\n",
    });
  }
  const unknown = await sandbox("stop", "two");
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain("cannot read sandboxes/two.img: ENOENT");
});
