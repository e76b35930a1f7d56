// docs/licences.md: the third-party code in each package, or installed with it, and its licences.
import { readFileSync, writeFileSync } from "node:fs";

import { inRoot } from "../lib/paths.mjs";
import { StepError, step } from "../lib/run.mjs";
import { allowedLicences, chosen, NOTICES, withNotices } from "./notices.mjs";
import { manifest, shipments } from "./shipped.mjs";

const PAGE = inRoot("docs", "licences.md");

/** Writes the page. */
export function writeLicences() {
  writeFileSync(PAGE, page());
  step("written: docs/licences.md");
}

/** Fails if the page is out of date, or if anything shipped has a licence that deny.toml does not allow. */
export function checkLicences() {
  step("licences of what is shipped");
  const allowed = allowedLicences();
  const refused = shipments().flatMap(({ what, parts }) =>
    parts
      .filter(({ licence }) => chosen(licence, allowed) === undefined)
      .map(({ name, version, licence }) => `${name} ${version}, ${what}: ${licence}`),
  );
  if (refused.length > 0) {
    throw new StepError(`licences that deny.toml does not allow:\n${refused.join("\n")}`);
  }
  if (readFileSync(PAGE, "utf8") !== page()) {
    throw new StepError("docs/licences.md is out of date; run npm run audit -- --write");
  }
}

function page() {
  return `# Licences

Hedgerow is licensed under MIT or Apache-2.0, at your option. This page lists the third-party code inside its packages
or installed with them. \`npm run audit -- --write\` generates it.

The WebAssembly in the npm packages contains third-party code. Its licence texts are in the packages:

${withNotices().map(noticesOf).join("\n")}

Where a licence leaves a choice, MIT is taken if it is offered. All other third-party code comes from its own
publishers, by npm or cargo.

${shipments().map(section).join("\n")}`;
}

/** @param {string} folder */
const noticesOf = (folder) => `- [\`${manifest(folder).name}\`](../${folder}/${NOTICES})`;

/** @param {import("./shipped.mjs").Shipment} shipment */
function section({ what, parts }) {
  const items = [...new Set(parts.map(({ licence }) => licence))].map((licence) => {
    const some = parts.filter((part) => part.licence === licence);
    const names = some.map(({ name, version }) => `${name} ${version}`);
    return wrapped(`- ${licence}: ${names.join(", ")}`);
  });
  return `## ${what}\n\n${items.length > 0 ? items.join("\n") : "Nothing."}\n`;
}

/** Wraps an item of a list at 120 columns. @param {string} item */
const wrapped = (item) => item.replace(/(.{1,118})(?: |$)/g, "$1\n  ").trimEnd();
