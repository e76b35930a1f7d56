// An S3 server over a folder, the bytes that it sends and receives, and a slow link to it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** Of a link: milliseconds to the first byte of a response, and bytes per second of each connection. */
const [LATENCY, RATE] = [30, 90e6];

/** @typedef {Awaited<ReturnType<typeof startS3>>} S3 */

/** Starts the server of the tests behind a proxy that counts bytes. @param {string} folder where it keeps its files */
export async function startS3(folder) {
  // The Node that lists the suites may not load TypeScript.
  await import("./typescript.mjs");
  const { startS3: start } = await import("../../tests/support/s3/server.js");
  const { endpoint, region, bucket, folder: objects, credentials, close } = await start(folder);
  const proxy = await startCounting(Number(endpoint.port));
  return {
    options: { endpoint: `http://127.0.0.1:${proxy.port}`, region, credentials },
    bucket,
    /** The folder of the bucket. */
    objects,
    /** The bytes so far, in both directions. */
    bytes: proxy.bytes,
    /** Returns the URL of an object. @param {string} key */
    url: (key) => `s3://${bucket}/${key}`,
    async stop() {
      proxy.close();
      await close();
    },
  };
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
