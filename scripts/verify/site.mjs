// Builds the site and tests it in Chromium: every page, both themes, two widths.
import { run } from "../lib/run.mjs";
import { buildSite } from "../site.mjs";

export async function testSite() {
  await buildSite();
  run("vitest", ["run", "--project", "site"]);
}
