import type { ImageCache } from "../cache/image-cache.js";
import { SnapshotError } from "../error.js";
import { checkBooleans } from "./check-booleans.js";
import { checkInteger } from "./check-integer.js";
import type { Trace } from "./trace.js";
import { transferOf } from "./transfer-options.js";
import { checkWork, type ReadWorkOptions } from "./work-options.js";

/** Options of `openSnapshot`. */
export interface OpenOptions extends ReadWorkOptions {
  /**
   * The path of the image, which appears when it is complete. If it was opened before, with the same snapshot, the disk
   * goes on as it was.
   */
  readonly image: string;
  /** A cache that may have the image of a base of the snapshot. Default: none. */
  readonly cache?: ImageCache | undefined;
  /**
   * What is fetched in the background: everything, so that the image becomes an ordinary file, or nothing. Default: `"all"`.
   */
  readonly fill?: "all" | "none" | undefined;
  /**
   * What an earlier disk read first, which is then fetched first, even if nothing else is: a trace, its location, or
   * `false` for none. A trace that is missing or not valid is left out. Default: `<snapshot>.trace` beside the snapshot.
   */
  readonly trace?: Trace | string | URL | false | undefined;
  /** The maximum rate of the fill, in bytes per second. At least 1. Default: unlimited. */
  readonly fillBytesPerSecond?: number | undefined;
  /** Whether the disk refuses writes. Default: `false`. */
  readonly readOnly?: boolean | undefined;
  /**
   * What happens to readers if the server fails for longer than the retries last: they wait until it is back, or get an
   * error. Default: `"wait"`.
   */
  readonly onStall?: "wait" | "error" | undefined;
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkOpen(options: OpenOptions): void {
  checkWork(options);
  transferOf(options);
  checkBooleans(options, ["readOnly"]);
  checkChoice("fill", options.fill, ["all", "none"]);
  checkChoice("onStall", options.onStall, ["wait", "error"]);
  const { fillBytesPerSecond: rate } = options;
  if (rate !== undefined) checkInteger("fillBytesPerSecond", rate, 1, Number.MAX_SAFE_INTEGER);
}

function checkChoice(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return;
  const expected = choices.map((choice) => JSON.stringify(choice)).join(" or ");
  const found = typeof value === "string" ? JSON.stringify(value) : typeof value;
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected ${expected}, found ${found}`);
}
