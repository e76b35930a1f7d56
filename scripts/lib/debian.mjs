// Programs of the system that the project runs beside its own tools, installed where Debian has them.
import { attempt, capture, StepError, step } from "./run.mjs";

/** The package that each program comes in. */
export const PACKAGES = {
  chromium: "chromium",
  clang: "clang",
  curl: "curl",
  debugfs: "e2fsprogs",
  e2fsck: "e2fsprogs",
  luajit: "luajit",
  mke2fs: "e2fsprogs",
  "mkfs.xfs": "xfsprogs",
  openssl: "openssl",
  python3: "python3",
  tinyproxy: "tinyproxy",
  valgrind: "valgrind",
  zstd: "zstd",
};

/**
 * The programs that each job runs. The build compiles the C of zstd to WebAssembly: clang alone does
 * it, as Rust brings a linker, and any `ar` will do.
 *
 * @type {Record<"build" | "cache" | "demo" | "guard" | "tests", (keyof typeof PACKAGES)[]>}
 */
const PROGRAMS = {
  build: ["clang"],
  cache: ["mke2fs", "mkfs.xfs"],
  demo: ["curl", "e2fsck", "mke2fs", "zstd"],
  guard: ["valgrind"],
  tests: [
    "chromium",
    "curl",
    "debugfs",
    "e2fsck",
    "luajit",
    "mke2fs",
    "mkfs.xfs",
    "openssl",
    "python3",
    "tinyproxy",
    "zstd",
  ],
};

/** Installs the programs of a job that are missing. @param {keyof typeof PROGRAMS} job */
export function installPrograms(job) {
  const missing = PROGRAMS[job].filter((program) => capture("which", [program]) === undefined);
  if (missing.length === 0) return;
  installDebianPackages([...new Set(missing.map((program) => PACKAGES[program]))]);
}

/** Installs packages that are missing. @param {string[]} packages */
export function installDebianPackages(packages) {
  const names = packages.join(" ");
  step(`Debian packages: ${names}`);
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  if (attempt("apt-get", install).status === 0) return;
  // The lists of a fresh machine are old, or there are none.
  attempt("apt-get", ["update"]);
  const { status, errors } = attempt("apt-get", install);
  if (status !== 0) {
    throw new StepError(
      `${names}: missing, and apt-get could not install it: ${errors.trim()}\n` +
        `  Debian, as root: apt-get install ${names}; elsewhere: install what these packages hold`,
    );
  }
}
