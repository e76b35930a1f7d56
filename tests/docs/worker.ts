/** Runs blocks that are workers in workerd, in front of an origin that serves the document's site `dist`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Miniflare, type Request, Response } from "miniflare";
import { expect } from "vitest";

import { bundle, LOCAL } from "../../scripts/lib/worker.mjs";

/** The path at which the origin returns the request headers. */
const ECHO = "/headers";

/**
 * Runs a worker, and checks that it strips headers and refuses paths if its code configures these jobs. A block
 * without a default export only has to load.
 *
 * @param name the name of its file
 */
export async function expectWorker(folder: string, name: string, text: string): Promise<void> {
  const entry = join(folder, `${name}.entry.js`);
  const handler = "block.default ?? { fetch: () => new Response() }";
  writeFileSync(entry, `import * as block from "./${name}";\nexport default ${handler};\n`);
  const worker = new Miniflare({
    ...LOCAL,
    modules: await bundle(entry),
    outboundService: ({ url, headers }: Request) =>
      originAnswer(folder, new URL(url).pathname, headers),
  });
  try {
    await worker.ready;
    if (text.includes("export default")) await expectJob(worker, text);
    else expect((await worker.dispatchFetch("https://origin.example/")).status).toBe(200);
  } finally {
    await worker.dispose();
  }
}

async function expectJob(worker: Miniflare, text: string): Promise<void> {
  const ask = (path: string) =>
    worker.dispatchFetch(`https://origin.example${path}`, { headers: { "x-internal-user": "1" } });
  if (text.includes("headers:")) {
    const response = await ask(ECHO);
    expect(Object.keys((await response.json()) as object)).not.toContain("x-internal-user");
    expect([...response.headers.keys()]).not.toContain("x-internal-node");
  }
  if (text.includes("paths:")) expect((await ask("/wp-login.php")).status).toBe(404);
  expect((await ask("/about")).status).toBe(200);
}

/** Serves files of `dist` by clean URLs, and echoes request headers. */
function originAnswer(folder: string, path: string, headers: Iterable<[string, string]>): Response {
  const internal = { "x-internal-node": "7" };
  if (path === ECHO) return Response.json(Object.fromEntries(headers), { headers: internal });
  const files = [join(folder, "dist", path), join(folder, "dist", path, "index.html")];
  const file = files.filter((name) => /\.\w+$/.test(name)).find((name) => existsSync(name));
  return file === undefined
    ? new Response("Not here\n", { status: 404 })
    : new Response(readFileSync(file), { headers: internal });
}
