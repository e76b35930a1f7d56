// Looks at what everything depends on: `npm run audit -- [--write] [--advisories]`.
//
// Licences, versions, sources and lockfiles are always checked. `--write` writes anew docs/licences.md, and the
// notices in packages of what others wrote that is inside; `--advisories` also asks who knows of weaknesses, which takes more network than package registries.
import { auditCrates } from "./audit/crates.mjs";
import { checkLicences, writeLicences } from "./audit/licences.mjs";
import { checkNotices, writeNotices } from "./audit/notices.mjs";
import { checkOwnCrates } from "./audit/own-crates.mjs";
import { auditPackages } from "./audit/packages.mjs";
import { main, StepError, step } from "./lib/run.mjs";
import { auditTool } from "./lib/tools.mjs";
import { installTool, setup } from "./setup.mjs";

const OPTIONS = ["--write", "--advisories"];

await main(() => {
  const options = process.argv.slice(2);
  const unknown = options.find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined)
    throw new StepError(`expected ${OPTIONS.join(", ")}, found ${unknown}`);
  const advisories = options.includes("--advisories");
  setup();
  installTool(auditTool);
  auditCrates({ advisories });
  auditPackages({ advisories });
  checkOwnCrates();
  if (options.includes("--write")) {
    writeLicences();
    writeNotices();
  }
  checkLicences();
  checkNotices();
  step(`nothing is wrong${advisories ? "" : "; advisories were not asked for"}`);
});
