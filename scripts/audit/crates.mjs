// Auditing crates with cargo-deny, by deny.toml.
import { run, step } from "../lib/run.mjs";
import { foldersWith } from "./lockfiles.mjs";

/** @param {{ advisories: boolean }} options */
export function auditCrates({ advisories }) {
  const checks = ["bans", "licenses", "sources", ...(advisories ? ["advisories"] : [])];
  for (const folder of foldersWith("Cargo.lock")) {
    step(`Rust: ${folder === "." ? "the workspace" : folder}: ${checks.join(", ")}`);
    // What deny.toml lets pass, and the main workspace does not have, is not needed any more.
    const unneeded = folder === "." ? "--deny" : "--allow";
    run("cargo", [
      ...["deny", "--manifest-path", `${folder}/Cargo.toml`, "--workspace", "--locked"],
      ...["--config", "deny.toml", "check", "--hide-inclusion-graph"],
      ...[unneeded, "unmatched-skip-root", ...checks],
    ]);
  }
}
