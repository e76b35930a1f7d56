// docs/licences.md: what is shipped, under which licences; and, shorter, what is only used to develop.
import { readFileSync, writeFileSync } from "node:fs";

import { inRoot } from "../lib/paths.mjs";
import { StepError, step } from "../lib/run.mjs";
import { allowedLicences } from "./allowed.mjs";
import { lockedCrates } from "./cargo.mjs";
import { chosen } from "./expression.mjs";
import { foldersWith, foreignPackages, nameAt } from "./lockfiles.mjs";
import { NOTICES, withNotices } from "./notices.mjs";
import { manifest, shipments } from "./shipped.mjs";

/** @typedef {import("./shipped.mjs").Part} Part */

const PAGE = inRoot("docs", "licences.md");

/** Writes the page anew. */
export function writeLicences() {
  writeFileSync(PAGE, page());
  step("written: docs/licences.md");
}

/** Checks that the page is as it would be written, and that everything shipped may be. */
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
    throw new StepError("docs/licences.md is not current: npm run audit -- --write");
  }
}

function page() {
  const shipped = shipments();
  return `# Licences

Hedgerow is licensed under MIT or Apache-2.0, at your option. This page lists what others wrote that is
in its packages, or is installed with them. \`npm run audit -- --write\` writes it, from the lockfiles and the
toolchain, and \`npm run audit\` fails if it is not current, or if a licence is not among those that \`deny.toml\`
allows.

## What is shipped

Our own packages, which need each other, are left out.

The WebAssembly in npm packages has others' code inside. The texts of its licences are in these packages:

${withNotices().map(noticesOf).join("\n")}

Of licences that leave a choice, MIT is taken where it is among them. The audit writes and checks these texts, too,
from the sources of what is inside. Nothing else has others' code inside: the audit checks that crates are packed
with their own sources alone, and the JavaScript is our own, but for what wasm-bindgen makes, which the texts
cover. What packages and crates need besides, npm and cargo fetch from those who publish it.

${shipped.map(section).join("\n")}
## What is only used to develop

Nothing of it is in a package. How many crates and npm packages have each licence, of all lockfiles:

| licence | crates | npm packages |
|---|--:|--:|
${development(shipped)}
`;
}

/** @param {string} folder */
const noticesOf = (folder) => `- [\`${manifest(folder).name}\`](../${folder}/${NOTICES})`;

/** @param {import("./shipped.mjs").Shipment} shipment */
function section({ what, parts }) {
  const rows = parts.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  const table = ["| | version | licence |", "|---|---|---|", ...rows].join("\n");
  return `### ${what}\n\n${rows.length > 0 ? table : "Nothing."}\n`;
}

/** @param {import("./shipped.mjs").Shipment[]} shipped */
function development(shipped) {
  const known = new Set(shipped.flatMap(({ parts }) => parts.map(textOf)));
  const only = (/** @type {Part[]} */ parts) => {
    const byText = new Map(parts.map((part) => [textOf(part), part.licence]));
    return [...byText].filter(([text]) => !known.has(text)).map(([, licence]) => licence);
  };
  const crates = countsOf(only(foldersWith("Cargo.lock").flatMap(cratesOf)));
  const packages = countsOf(only(foldersWith("package-lock.json").flatMap(packagesOf)));
  return [...new Set([...crates.keys(), ...packages.keys()])]
    .sort()
    .map((name) => `| ${name} | ${crates.get(name) ?? 0} | ${packages.get(name) ?? 0} |`)
    .join("\n");
}

/** @param {Part} part */
const textOf = ({ name, version }) => `${name} ${version}`;

/** @param {string[]} names */
function countsOf(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** @param {string} folder @returns {Part[]} */
function cratesOf(folder) {
  return lockedCrates(folder)
    .filter(({ source }) => source !== null)
    .map(({ name, version, license }) => ({ name, version, licence: license ?? "none" }));
}

/** @param {string} folder @returns {Part[]} */
function packagesOf(folder) {
  return foreignPackages(folder).map(([place, { version = "", license = "none" }]) => ({
    name: nameAt(place),
    version,
    licence: license,
  }));
}
