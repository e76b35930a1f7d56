// An S3 server over a folder, the bytes that it sends and receives, and a slow link to it.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { goTool } from "../../scripts/lib/go.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { freePort } from "../../tests/support/http/free-port.mjs";

const [REGION, BUCKET] = ["eu-central-1", "snapshots"];

/** Of a link: milliseconds to the first byte of a response, and bytes per second of each connection. */
const [LATENCY, RATE] = [30, 90e6];

/** Seconds after which the server ends by itself. */
const LIFETIME = 3600;

/** Attempts to reach the server when it starts, and milliseconds between them. */
const [ATTEMPTS, INTERVAL] = [500, 20];

/** @typedef {Awaited<ReturnType<typeof startS3>>} S3 */

/** Starts a server behind a proxy that counts bytes. @param {string} folder an empty one */
export async function startS3(folder) {
  const [objects, metadata] = [join(folder, "objects"), join(folder, "metadata")];
  mkdirSync(join(objects, BUCKET), { recursive: true });
  mkdirSync(metadata);
  const port = await freePort();
  const credentials = {
    accessKeyId: randomBytes(10).toString("hex"),
    secretAccessKey: randomBytes(20).toString("hex"),
  };
  const env = {
    ...process.env,
    ROOT_ACCESS_KEY_ID: credentials.accessKeyId,
    ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    VGW_REGION: REGION,
  };
  const guard = inRoot("tests", "support", "processes", "guard.mjs");
  const flags = ["--quiet", "--keep-alive", "--port", `127.0.0.1:${port}`, "--health", "/health"];
  const command = [goTool("versitygw"), ...flags, "posix", "--sidecar", metadata, objects];
  const child = spawn(process.execPath, [guard, `${LIFETIME}`, ...command], {
    ...{ env, stdio: ["pipe", "ignore", "inherit"] },
  });
  await answers(`http://127.0.0.1:${port}/health`);
  const proxy = await startCounting(port);
  return {
    options: { endpoint: `http://127.0.0.1:${proxy.port}`, region: REGION, credentials },
    /** The bytes so far, in both directions. */
    bytes: proxy.bytes,
    /** Returns the URL of an object. @param {string} key */
    url: (key) => `s3://${BUCKET}/${key}`,
    async stop() {
      proxy.close();
      const exit = once(child, "exit");
      child.stdin?.end();
      await exit;
    },
  };
}

/** Waits for a server. @param {string} url */
async function answers(url) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await sleep(INTERVAL);
  }
  throw new Error("the S3 server does not start");
}

/** Starts a proxy that counts bytes. @param {number} target port */
async function startCounting(target) {
  let bytes = 0;
  const count = (/** @type {Buffer} */ chunk) => {
    bytes += chunk.length;
  };
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      from?.on("data", count).on("error", () => to?.destroy());
      from?.pipe(/** @type {import("node:net").Socket} */ (to));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { port, bytes: () => bytes, close: () => server.close() };
}

/** Starts a slow link to a server. @param {string} endpoint */
export async function startLink(endpoint) {
  const script = fileURLToPath(new URL("link.mjs", import.meta.url));
  const args = [script, new URL(endpoint).port, `${LATENCY}`, `${RATE}`];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(child.stdout, "data");
  return { endpoint: `http://127.0.0.1:${String(port).trim()}`, stop: () => child.stdin.end() };
}
