// Installs system programs from Debian.
import { attempt, capture, StepError, step } from "./run.mjs";

/** The Debian package of each program. */
export const PACKAGES = {
  aria2c: "aria2",
  busybox: "busybox-static",
  chromium: "chromium",
  clang: "clang",
  curl: "curl",
  "docker-registry": "docker-registry",
  debugfs: "e2fsprogs",
  e2fsck: "e2fsprogs",
  faketime: "faketime",
  fio: "fio",
  fish: "fish",
  fusermount3: "fuse3",
  luajit: "luajit",
  mandoc: "mandoc",
  mke2fs: "e2fsprogs",
  "mkfs.btrfs": "btrfs-progs",
  "mkfs.erofs": "erofs-utils",
  "mkfs.xfs": "xfsprogs",
  openssl: "openssl",
  php: "php-cli",
  python3: "python3",
  nbdcopy: "libnbd-bin",
  nbddump: "libnbd-bin",
  nbdfuse: "libnbd-bin",
  nbdinfo: "libnbd-bin",
  nbdkit: "nbdkit",
  nbdsh: "python3-libnbd",
  nginx: "nginx",
  "qemu-img": "qemu-utils",
  "qemu-io": "qemu-utils",
  "qemu-nbd": "qemu-utils",
  "qemu-storage-daemon": "qemu-system-common",
  "qemu-system-x86_64": "qemu-system-x86",
  rclone: "rclone",
  "redis-server": "redis-server",
  skopeo: "skopeo",
  strace: "strace",
  tinyproxy: "tinyproxy",
  umoci: "umoci",
  valgrind: "valgrind",
  xz: "xz-utils",
  zsh: "zsh",
  zstd: "zstd",
};

/**
 * Programs that each job needs. The build compiles zstd's C code to WebAssembly with clang alone: Rust
 * contains a linker, and any `ar` works.
 *
 * @type {Record<"build" | "cache" | "delta" | "demo" | "disk" | "fleet" | "guard" | "image" | "restore" | "running" | "store" | "tests", (keyof typeof PACKAGES)[]>}
 */
const PROGRAMS = {
  build: ["clang"],
  cache: ["mke2fs", "mkfs.xfs"],
  delta: ["curl", "mke2fs", "mkfs.xfs", "qemu-img", "zstd"],
  demo: ["curl", "mke2fs", "zstd"],
  disk: [
    "busybox",
    "curl",
    "fio",
    "mke2fs",
    "nbdcopy",
    "nbdfuse",
    "nbdkit",
    "python3",
    "qemu-img",
    "qemu-nbd",
    "qemu-system-x86_64",
    "zstd",
  ],
  fleet: ["mke2fs", "nginx", "redis-server"],
  image: ["debugfs", "e2fsck", "mke2fs", "umoci", "zstd"],
  guard: ["valgrind"],
  restore: ["aria2c", "curl", "mke2fs", "zstd"],
  running: [
    "busybox",
    "fusermount3",
    "mke2fs",
    "mkfs.xfs",
    "nbdfuse",
    "qemu-storage-daemon",
    "qemu-system-x86_64",
    "umoci",
    "zstd",
  ],
  store: ["curl", "mke2fs", "mkfs.xfs", "qemu-img", "qemu-nbd", "zstd"],
  tests: [
    "busybox",
    "chromium",
    "curl",
    "debugfs",
    "docker-registry",
    "e2fsck",
    "faketime",
    "fio",
    "fish",
    "fusermount3",
    "luajit",
    "mandoc",
    "mke2fs",
    "mkfs.btrfs",
    "mkfs.erofs",
    "mkfs.xfs",
    "nbdcopy",
    "nbddump",
    "nbdfuse",
    "nbdinfo",
    "nbdkit",
    "nbdsh",
    "nginx",
    "openssl",
    "php",
    "python3",
    "qemu-img",
    "qemu-io",
    "qemu-storage-daemon",
    "qemu-system-x86_64",
    "rclone",
    "redis-server",
    "skopeo",
    "strace",
    "tinyproxy",
    "umoci",
    "xz",
    "zsh",
    "zstd",
  ],
};

/** Installs the missing programs of a job. @param {keyof typeof PROGRAMS} job */
export function installPrograms(job) {
  const missing = PROGRAMS[job].filter((program) => capture("which", [program]) === undefined);
  if (missing.length === 0) return;
  installDebianPackages([...new Set(missing.map((program) => PACKAGES[program]))]);
}

/** Installs missing packages. @param {string[]} packages */
export function installDebianPackages(packages) {
  const names = packages.join(" ");
  step(`Debian packages: ${names}`);
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  if (attempt("apt-get", install).status === 0) return;
  // The package lists of a fresh machine are missing or stale.
  attempt("apt-get", ["update"]);
  const { status, errors } = attempt("apt-get", install);
  if (status !== 0) {
    throw new StepError(
      `${names}: missing, and apt-get could not install it: ${errors.trim()}\n` +
        `  Debian, as root: apt-get install ${names}; elsewhere: install what these packages hold`,
    );
  }
}
