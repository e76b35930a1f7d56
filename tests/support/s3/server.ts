/** An S3 server for tests, over a folder. */
import type { ChildProcess } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { goTool } from "../../../scripts/lib/go.mjs";
import { freePort } from "../http/listen.js";
import { type Surroundings, startProgram } from "../processes/serve.js";

/** Where the server keeps incomplete uploads, in the folder of a bucket. */
const UPLOADS = [".sgwtmp", "multipart"];

/** No file of tests takes longer, even with all trials. */
const MAX_SECONDS = 3600;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export interface S3Server {
  readonly endpoint: URL;
  /** Random credentials, which only this test knows. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly region: string;
  /** The only bucket. */
  readonly bucket: string;
  /** The folder of the bucket. The file at an object's key holds its bytes. */
  readonly folder: string;
  /** Returns the keys of all objects, sorted. */
  objects(): string[];
  /** Returns the multipart uploads that were neither completed nor aborted. */
  multipartUploads(): MultipartUpload[];
  close(): Promise<void>;
}

interface MultipartUpload {
  readonly key: string;
  readonly uploadId: string;
}

/**
 * Starts a server. It ends with this process, or when its time is over, if it is not closed before.
 *
 * @param parent of its folder
 */
export async function startS3(parent = tmpdir()): Promise<S3Server> {
  const program = goTool("versitygw");
  if (!existsSync(program)) throw new Error(`expected ${program}, which scripts/test.mjs builds`);
  const root = mkdtempSync(join(parent, "hedgerow-s3-"));
  const [region, bucket] = ["eu-central-1", "snapshots"];
  // Metadata is kept in files, since not every file system supports extended attributes.
  const [objects, metadata] = [join(root, "objects"), join(root, "metadata")];
  mkdirSync(metadata);
  // Each folder is a bucket.
  const folder = join(objects, bucket);
  mkdirSync(folder, { recursive: true });
  const credentials = {
    accessKeyId: Array.from({ length: 20 }, () => ALPHABET[randomInt(ALPHABET.length)]).join(""),
    secretAccessKey: randomBytes(30).toString("base64url"),
  };
  const env = {
    ...process.env,
    ROOT_ACCESS_KEY_ID: credentials.accessKeyId,
    ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    VGW_REGION: region,
  };
  const folders = ["posix", "--sidecar", metadata, objects];
  const { endpoint, close } = await start(program, folders, { env, maxSeconds: MAX_SECONDS }).catch(
    (error: unknown) => {
      rmSync(root, { recursive: true, force: true });
      throw error;
    },
  );
  return {
    endpoint,
    credentials,
    region,
    bucket,
    folder,
    objects: () => keysIn(folder),
    multipartUploads: () => uploadsIn(folder, join(metadata, bucket)),
    close: async () => {
      await close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Starts the program. If another process takes the port first, it tries another port. */
async function start(
  program: string,
  folders: readonly string[],
  surroundings: Surroundings,
): Promise<{ endpoint: URL; close(): Promise<void> }> {
  let printed = "";
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const address = `127.0.0.1:${await freePort()}`;
    // A random path, to recognise this server.
    const health = `/${randomBytes(16).toString("hex")}`;
    const options = ["--quiet", "--keep-alive", "--port", address, "--health", health];
    const { child, close } = startProgram([program, ...options, ...folders], surroundings);
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    const endpoint = new URL(`http://${address}`);
    if (await answers(child, new URL(health, endpoint))) return { endpoint, close };
    await close();
  }
  throw new Error(`the S3 server does not start: ${printed}`);
}

/** Returns whether a server responds within ten seconds. */
async function answers(child: ChildProcess, url: URL): Promise<boolean> {
  for (let wait = 0; wait < 500 && child.exitCode === null; wait += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return true;
    await sleep(20);
  }
  return false;
}

function keysIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((key) => !key.startsWith(`${UPLOADS[0]}/`))
    .sort();
}

function uploadsIn(folder: string, metadata: string): MultipartUpload[] {
  // Each key has a folder, with a folder for each of its uploads.
  const all = join(folder, ...UPLOADS);
  if (!existsSync(all)) return [];
  return readdirSync(all).flatMap((name) => {
    const uploads = readdirSync(join(all, name));
    if (uploads.length === 0) return [];
    const about = join(metadata, ...UPLOADS, name, "meta", "objname");
    // A new upload has no key yet.
    const key = existsSync(about) ? readFileSync(about, "utf8") : "";
    return uploads.map((uploadId) => ({ key, uploadId }));
  });
}
