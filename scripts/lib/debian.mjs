// What tests need of the system beside the project's own tools, installed where Debian has it.
import { attempt, capture, StepError, step } from "./run.mjs";

/** The programs that tests run, which are named as Debian's packages of them are. */
const PROGRAMS = ["luajit", "python3"];

/** Installs what is missing. */
export function installDebianPackages() {
  const missing = PROGRAMS.filter((program) => capture("which", [program]) === undefined);
  if (missing.length === 0) return;
  step(`Debian packages: ${missing.join(", ")}`);
  const install = ["install", "--yes", "--no-install-recommends", ...missing];
  if (attempt("apt-get", install).status === 0) return;
  // The lists of a fresh machine are old, or there are none.
  attempt("apt-get", ["update"]);
  const { status, errors } = attempt("apt-get", install);
  if (status !== 0) {
    throw new StepError(
      `${missing.join(", ")}: not here, and apt-get could not install: ${errors}`,
    );
  }
}
