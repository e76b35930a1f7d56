// How zstd is compiled to WebAssembly, and its patch for `decode.wasm`: 64-bit bit containers beside 32-bit pointers.
//
// zstd chooses the width of its bit containers by that of `size_t`, which has 32 bits in WebAssembly, although its
// registers have 64. Containers of 64 bits are refilled half as often, and enable the fast loops for Huffman codes.
// Decoding then takes a quarter less time. The compressor gains nothing, and would need more changes.
//
// clang compiles the patched text in place of the crate's files, through an overlay of its file system. So Cargo.lock
// and the published crates stay as they are.
//
// To propose upstream: `HUF_initFastDStream` returns U64, as the `bits` that it initialises, and `sizeof(size_t)` is
// `sizeof(BitContainerType)` where it means the width of a container. Then a port could choose BitContainerType.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { inRoot } from "./paths.mjs";
import { output, StepError } from "./run.mjs";

/**
 * The replacements in each file: a text, its new form, and how often it occurs.
 *
 * With `MEM_64bits()`, zstd refuses to decode to the last MiB of the address space instead of checking sums of
 * addresses for overflow.
 *
 * @type {Record<string, [found: string, replacement: string, count: number][]>}
 */
const PATCHES = {
  // Windows of 2 GiB, which native code accepts. The memory is that of the data, whatever the window.
  "zstd.h": [
    [
      "sizeof(size_t) == 4 ? ZSTD_WINDOWLOG_MAX_32 : ZSTD_WINDOWLOG_MAX_64",
      "ZSTD_WINDOWLOG_MAX_64",
      1,
    ],
  ],
  "common/mem.h": [
    ["MEM_32bits(void) { return sizeof(size_t)==4; }", "MEM_32bits(void) { return 0; }", 1],
    ["MEM_64bits(void) { return sizeof(size_t)==8; }", "MEM_64bits(void) { return 1; }", 1],
    ["size_t MEM_readLEST(", "U64 MEM_readLEST(", 2],
    ["return (size_t)MEM_readLE64(memPtr);", "return MEM_readLE64(memPtr);", 1],
  ],
  "common/bitstream.h": [
    ["typedef size_t BitContainerType;", "typedef U64 BitContainerType;", 1],
    ["size_t BIT_readBitsFast(", "BitContainerType BIT_readBitsFast(", 1],
  ],
  "decompress/huf_decompress.c": [
    ["static size_t HUF_initFastDStream(", "static U64 HUF_initFastDStream(", 1],
    ["size_t const value = MEM_readLEST(", "U64 const value = MEM_readLEST(", 1],
    ["sizeof(size_t)", "sizeof(BitContainerType)", 6],
  ],
};

/**
 * Returns the environment in which cargo compiles zstd to WebAssembly. Small functions matter: engines optimise each as a
 * whole while they decode the first frames, and one of 38 KB takes them 120 ms. So only functions that zstd marks as
 * inline are inlined, and the variant for windows of more than 16 MiB is left out: frames hold at most 16 MiB.
 *
 * @param {string[]} [flags] more flags of clang
 */
export const zstdEnv = (flags = []) => ({
  CC_wasm32_unknown_unknown: "clang",
  CFLAGS_wasm32_unknown_unknown: [
    "-msimd128 -mbulk-memory -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT -finline-hint-functions",
    ...flags,
  ].join(" "),
  // Enables quotes in the flags.
  CC_SHELL_ESCAPED_FLAGS: "1",
});

/** A file that exists only in the overlay, so that the compiler fails where it does not read the overlay. */
const ONLY_IN_OVERLAY = "common/64-bit-containers.h";

/**
 * Writes the overlay of the locked version of `zstd-sys`. Returns the flags of clang that read it.
 *
 * @param {string} crate the folder of the crate that depends on zstd
 */
export function wideContainers(crate) {
  const zstd = zstdFolder(crate);
  const files = Object.entries(PATCHES).map(([file, patches]) => {
    const text = readFileSync(join(zstd, file), "utf8");
    return [file, patches.reduce((patched, patch) => replaced(file, patched, ...patch), text)];
  });
  // cargo compiles zstd again if the flags change, but not if only the files do.
  const digest = createHash("sha256").update(JSON.stringify(files)).digest("hex");
  const target = inRoot("target", "zstd", digest.slice(0, 16));
  const roots = [...files, [ONLY_IN_OVERLAY, ""]].map(([file = "", text = ""]) => {
    const contents = join(target, file);
    mkdirSync(dirname(contents), { recursive: true });
    writeFileSync(contents, text);
    return { name: join(zstd, file), type: "file", "external-contents": contents };
  });
  const overlay = join(target, "overlay.json");
  writeFileSync(overlay, JSON.stringify({ version: 0, "use-external-names": false, roots }));
  return ["-ivfsoverlay", `'${overlay}'`, "-include", `zstd/lib/${ONLY_IN_OVERLAY}`];
}

/** @param {string} file @param {string} text @param {string} found @param {string} replacement @param {number} count */
function replaced(file, text, found, replacement, count) {
  const parts = text.split(found);
  if (parts.length - 1 === count) return parts.join(replacement);
  throw new StepError(
    `zstd, ${file}: expected "${found}" ${count} times, found ${parts.length - 1}. Check the patches in scripts/lib/zstd.mjs against this version of zstd`,
  );
}

/** Returns the folder of zstd's sources that cargo compiles. @param {string} crate */
function zstdFolder(crate) {
  const graph = ["build", "--quiet", "--unit-graph", "-Zunstable-options"];
  const cwd = inRoot(crate);
  const printed = output("cargo", graph, { cwd, env: { RUSTC_BOOTSTRAP: "1" } });
  const { units } = JSON.parse(printed);
  const unit = units.find((/** @type {{ pkg_id: string }} */ { pkg_id }) =>
    /\bzstd-sys@/.test(pkg_id),
  );
  if (unit === undefined) throw new StepError(`${crate}: expected a dependency on zstd-sys`);
  return realpathSync(join(dirname(unit.target.src_path), "..", "zstd", "lib"));
}
