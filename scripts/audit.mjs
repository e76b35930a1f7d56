// Audits dependencies: `npm run audit -- [--write] [--advisories]`.
//
// Always checks licences, versions, sources, lockfiles and notices. `--write` regenerates the notices. `--advisories`
// also queries vulnerability databases, which are not in the package registries.
import { parseArgs } from "node:util";

import { auditCrates, auditPackages } from "./audit/lockfiles.mjs";
import { checkLicences, checkNotices, writeNotices } from "./audit/notices.mjs";
import { checkOwnCrates } from "./lib/crates.mjs";
import { main, step } from "./lib/run.mjs";
import { auditTool } from "./lib/tools.mjs";
import { installTool, setup } from "./setup.mjs";

await main(async () => {
  const { advisories, write } = parseArgs({
    options: {
      advisories: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  }).values;
  await setup();
  installTool(auditTool);
  auditCrates({ advisories });
  auditPackages({ advisories });
  checkOwnCrates();
  if (write) writeNotices();
  checkLicences();
  checkNotices();
  step(`the audit passed${advisories ? "" : "; advisories were not checked"}`);
});
