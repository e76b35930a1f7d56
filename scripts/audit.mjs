// Audits dependencies: `npm run audit -- [--write] [--advisories]`.
//
// Always checks licences, versions, sources, lockfiles and notices. `--write` regenerates docs/licences.md and the
// notices. `--advisories` also queries vulnerability databases, which are not in the package registries.
import { checkLicences, writeLicences } from "./audit/licences.mjs";
import { auditCrates, auditPackages } from "./audit/lockfiles.mjs";
import { checkNotices, writeNotices } from "./audit/notices.mjs";
import { checkOwnCrates } from "./audit/own-crates.mjs";
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
  step(`the audit passed${advisories ? "" : "; advisories were not checked"}`);
});
