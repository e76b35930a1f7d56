/** The reader as a bundle: without what only Node has, and in a browser, from a server of another origin. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { parseRange } from "../../../../tests/origin/resource.mjs";
import { startChromium } from "../../../../tests/runtimes/chromium/run.mjs";
import { closed, serve } from "../../../../tests/support/http/listen.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { makeSample, type Sample } from "../support/reader-samples.js";

const path = temporaryFolder();
const bundle = path("reader.mjs");

/** A delta, with a hole. */
let sample: Sample;

beforeAll(async () => {
  const base = Buffer.concat([noise("a", 2 ** 18), Buffer.alloc(2 ** 17), noise("b", 5000)]);
  const image = Buffer.from(base);
  noise("c", 2 ** 16).copy(image, 2 ** 16);
  sample = await makeSample(path, [base, image], 2 ** 14);
  const entry = fileURLToPath(import.meta.resolve("@hedgerow/snapshot/reader"));
  const how = { bundle: true, platform: "browser", format: "esm", metafile: true } as const;
  const { metafile } = await build({ ...how, entryPoints: [entry], outfile: bundle });
  expect(Object.keys(metafile.inputs).join()).not.toContain("encode-module");
});

async function served(listener: RequestListener): Promise<URL> {
  const { server, url } = await serve(listener);
  onTestFinished(() => closed(server));
  return url;
}

test("reads and verifies where there is no Buffer and no SharedArrayBuffer", async () => {
  const script = `
    import { parentPort, workerData } from "node:worker_threads";
    for (const name of ["Buffer", "SharedArrayBuffer", "process"]) delete globalThis[name];
    const { SnapshotReader } = await import(workerData.url);
    const resolve = () => new Blob([workerData.base]);
    const reader = await SnapshotReader.open(new Blob([workerData.file]), { resolve });
    await reader.verify();
    const missing = ["Buffer", "SharedArrayBuffer", "process"].filter((name) => !(name in globalThis));
    parentPort.postMessage({ missing, bytes: await reader.read(0, reader.info.imageSize) });
  `;
  const workerData = { url: pathToFileURL(bundle).href, file: sample.file };
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), {
    workerData: { ...workerData, base: sample.files["/0.vhs"] },
  });
  const [found] = await once(worker, "message");
  expectSame(Buffer.from(found.bytes), sample.image);
  expect(found.missing).toHaveLength(3);
  await worker.terminate();
});

test("reads and verifies in Chromium, from another origin that shows no headers and gets no preflight request", async () => {
  const methods: string[] = [];
  const files = await served(({ method = "", url = "", headers }, response) => {
    methods.push(method);
    const file = sample.files[url];
    if (file === undefined || !/^(GET|HEAD)$/.test(method)) return response.writeHead(405).end();
    const range = parseRange(headers.range, file.length);
    const { start, end } = typeof range === "object" ? range : { start: 0, end: file.length };
    response.writeHead(range === undefined ? 200 : 206, {
      "access-control-allow-origin": "*",
      "content-length": end - start,
      "content-range": `bytes ${start}-${end - 1}/${file.length}`,
      etag: '"a"',
    });
    return response.end(file.subarray(start, end));
  });
  const page = await served(({ url }, response) => {
    const isScript = url === "/reader.mjs";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? readFileSync(bundle) : "<!doctype html><title>reader</title>");
  });
  const { context, close } = await startChromium();
  onTestFinished(close);
  const tab = await context.newPage();
  await tab.goto(page.href);
  const found = await tab.evaluate(`(async () => {
    const { SnapshotReader } = await import("/reader.mjs");
    const reader = await SnapshotReader.open("${files}1.vhs");
    await reader.verify();
    const bytes = await reader.read(0, reader.info.imageSize);
    const url = await new Promise((resolve) => {
      const file = new FileReader();
      file.onload = () => resolve(file.result);
      file.readAsDataURL(new Blob([bytes]));
    });
    return url.slice(url.indexOf(",") + 1);
  })()`);
  expectSame(Buffer.from(String(found), "base64"), sample.image);
  expect(new Set(methods)).toEqual(new Set(["GET", "HEAD"]));
});
