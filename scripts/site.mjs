// Builds the site in target/site, a folder that any static host serves: `npm run site [-- --serve]`.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { build } from "./build.mjs";
import { documentPackage } from "./docs/api.mjs";
import { inRoot } from "./lib/paths.mjs";
import { listFiles, main, run, step } from "./lib/run.mjs";
import { installSuite } from "./lib/suites.mjs";
import { setup } from "./setup.mjs";

const [SITE, API] = [inRoot("target", "site"), inRoot("target", "site-api")];

/** The API as Markdown, a page for each module. */
const MARKDOWN = [
  ...["--plugin", inRoot("scripts", "docs", "describe-modules.mjs")],
  ...["--plugin", "typedoc-plugin-markdown", "--readme", "none"],
  ...["--outputFileStrategy", "modules", "--entryFileName", "index"],
  ...["--hidePageHeader", "true", "--hideBreadcrumbs", "true"],
];

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const { values } = parseArgs({ options: { serve: { type: "boolean" } } });
    await setup();
    build();
    await buildSite();
    if (values.serve) await serve();
  });
}

/** Builds the site; the packages must be built. */
export async function buildSite() {
  installSuite("scripts/docs");
  installSuite("site", ["hedgerow", "@hedgerow/snapshot"]);
  const begun = performance.now();
  rmSync(API, { recursive: true, force: true });
  for (const folder of readdirSync(inRoot("js")))
    documentPackage(folder, join(API, folder), [
      ...MARKDOWN,
      "--json",
      join(API, `${folder}.json`),
    ]);
  run("npx", ["vue-tsc", "--noEmit"], { cwd: inRoot("site") });
  run("npx", ["vitepress", "build", "."], { cwd: inRoot("site") });
  await writeExamples(join(SITE, "examples"));
  const files = readdirSync(SITE, { recursive: true, encoding: "utf8" });
  const sizes = files.map((file) => statSync(join(SITE, file))).filter((stats) => stats.isFile());
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
  const seconds = (performance.now() - begun) / 1000;
  step(
    `target/site: ${sizes.length} files, ${(bytes / 1e6).toFixed(1)} MB, in ${seconds.toFixed(0)} s`,
  );
}

/** Serves the site until the process is ended. */
async function serve() {
  const { default: sirv } = await import("sirv");
  const server = createServer(sirv(SITE, { extensions: ["html"] }));
  server.listen(4173, "127.0.0.1", () => step("http://127.0.0.1:4173"));
}

/**
 * Writes what the playground shows: a snapshot of an image with the documents in it, a delta, and files that are not
 * sound.
 *
 * @param {string} folder
 */
async function writeExamples(folder) {
  const { createSnapshot } = await import("@hedgerow/snapshot");
  mkdirSync(folder, { recursive: true });
  const inFolder = (/** @type {string} */ name) => join(folder, name);
  const image = inFolder("disk.img");
  const bytes = Buffer.alloc(2 ** 24);
  let position = 0;
  const write = (/** @type {string} */ file) => {
    const length = readFileSync(inRoot(file)).copy(bytes, position);
    // Leaves a hole after each, so that there is something to see.
    position += (Math.ceil(length / 2 ** 12) + 37) * 2 ** 12;
  };
  for (const file of [...listFiles("docs/*.md"), ...listFiles("docs/charts/*.svg")]) write(file);
  writeFileSync(image, bytes);
  await createSnapshot(image, inFolder("disk.vhs"), { level: 9 });
  write("README.md");
  readFileSync(inRoot("CHANGELOG.md")).copy(bytes, 3 * 2 ** 22);
  bytes.fill(0, 0, 2 ** 16);
  writeFileSync(image, bytes);
  await createSnapshot(image, inFolder("changed.vhs"), { level: 9, base: inFolder("disk.vhs") });
  rmSync(image);
  // Snapshots are private; these are for everybody.
  for (const name of ["disk.vhs", "changed.vhs"]) chmodSync(inFolder(name), 0o644);
  const snapshot = readFileSync(inFolder("disk.vhs"));
  const damage = (/** @type {string} */ name, /** @type {number} */ at) => {
    const damaged = Buffer.from(snapshot);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    writeFileSync(inFolder(name), damaged);
  };
  damage("damaged.vhs", 10_000);
  damage("forged.vhs", snapshot.length - 2_000);
  writeFileSync(inFolder("text.vhs"), "This is not a snapshot.\n");
}
