import { FULL } from "../local/system-errors.js";

/** The numbers of the NBD protocol, as `doc/proto.md` of the NetworkBlockDevice project names them. */

/** Magic numbers. */
export const NBDMAGIC = 0x4e42444d41474943n;
export const IHAVEOPT = 0x49484156454f5054n;
export const OPTION_REPLY_MAGIC = 0x3e889045565a9n;
export const REQUEST_MAGIC = 0x25609513;
export const SIMPLE_REPLY_MAGIC = 0x67446698;
export const STRUCTURED_REPLY_MAGIC = 0x668e33ef;

/** Flags of the handshake, which the client repeats. */
export const FLAG_FIXED_NEWSTYLE = 1;
export const FLAG_NO_ZEROES = 2;

/** Transmission flags. */
export const FLAG = {
  HAS_FLAGS: 1,
  READ_ONLY: 2,
  SEND_FLUSH: 4,
  SEND_FUA: 8,
  SEND_TRIM: 32,
  SEND_WRITE_ZEROES: 64,
  SEND_DF: 128,
  CAN_MULTI_CONN: 256,
  SEND_CACHE: 1024,
  SEND_FAST_ZERO: 2048,
} as const;

export const OPT = {
  EXPORT_NAME: 1,
  ABORT: 2,
  LIST: 3,
  STARTTLS: 5,
  INFO: 6,
  GO: 7,
  STRUCTURED_REPLY: 8,
  LIST_META_CONTEXT: 9,
  SET_META_CONTEXT: 10,
} as const;

/** Types of replies to options. */
export const REP = {
  ACK: 1,
  SERVER: 2,
  INFO: 3,
  META_CONTEXT: 4,
  ERR_UNSUP: 0x80000001,
  ERR_INVALID: 0x80000003,
  ERR_TLS_REQD: 0x80000005,
  ERR_UNKNOWN: 0x80000006,
  ERR_SHUTDOWN: 0x80000007,
  ERR_TOO_BIG: 0x80000009,
} as const;

/** Types of information about an export. */
export const INFO = { EXPORT: 0, NAME: 1, BLOCK_SIZE: 3 } as const;

/** Commands. */
export const CMD = {
  READ: 0,
  WRITE: 1,
  DISC: 2,
  FLUSH: 3,
  TRIM: 4,
  CACHE: 5,
  WRITE_ZEROES: 6,
  BLOCK_STATUS: 7,
} as const;

/** Flags of commands. */
export const CMD_FLAG = { FUA: 1, NO_HOLE: 2, DF: 4, REQ_ONE: 8, FAST_ZERO: 16 } as const;

/** Types of chunks of structured replies, and their only flag. */
export const CHUNK = { NONE: 0, OFFSET_DATA: 1, BLOCK_STATUS: 5, ERROR: 0x8001 } as const;
export const CHUNK_DONE = 1;

/** Error values. */
export const ERRNO = {
  EPERM: 1,
  EIO: 5,
  EINVAL: 22,
  ENOSPC: 28,
  EOVERFLOW: 75,
  ENOTSUP: 95,
  ESHUTDOWN: 108,
} as const;

/** The ID of the metadata context `base:allocation` in replies, and flags of its extents. */
export const CONTEXT_ID = 0;
export const STATE_HOLE = 1;
export const STATE_ZERO = 2;

/** The maximum length of a string, in bytes. */
export const MAX_STRING = 4096;

/** The block sizes that the server announces: minimum and preferred, and the maximum payload, in bytes. */
export const [MIN_BLOCK, PREFERRED_BLOCK, MAX_PAYLOAD] = [1, 4096, 2 ** 25] as const;

/** Returns the error value for an error of an export. */
export function errnoOf(error: unknown): number {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: unknown };
  if (code === "ERR_DISK_CLOSED") return ERRNO.ESHUTDOWN;
  if (FULL.has(code)) return ERRNO.ENOSPC;
  return cause === undefined || cause === null ? ERRNO.EIO : errnoOf(cause);
}
