import { FULL } from "../local/system-errors.js";
import { ERRNO } from "./constants.js";

/** Returns the error value for an error of an export. */
export function errnoOf(error: unknown): number {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: unknown };
  if (code === "ERR_DISK_CLOSED") return ERRNO.ESHUTDOWN;
  if (FULL.has(code)) return ERRNO.ENOSPC;
  return cause === undefined || cause === null ? ERRNO.EIO : errnoOf(cause);
}
