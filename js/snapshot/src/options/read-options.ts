import { SnapshotError } from "../error.js";
import type { CacheOptions, GetOptions, VerifyOptions } from "./cache-options.js";
import type { CreateOptions } from "./create-options.js";
import type { FlattenOptions } from "./flatten-options.js";
import type { ListenOptions, TlsFiles } from "./listen-options.js";
import type { OpenOptions } from "./open-options.js";
import type { ReaderOptions, VerifyReaderOptions } from "./reader-options.js";
import type { RestoreOptions } from "./restore-options.js";
import type { S3Credentials, S3Options } from "./s3-options.js";
import type {
  AttachOptions,
  CollectOptions,
  DetachOptions,
  ExpireOptions,
  GenerationOptions,
  ListOptions,
  NewDiskOptions,
  StoreOptions,
} from "./store-options.js";
import type { Timeouts } from "./transfer-options.js";

type Option = keyof (CreateOptions &
  FlattenOptions &
  RestoreOptions &
  GetOptions &
  CacheOptions &
  VerifyOptions &
  ListenOptions &
  OpenOptions &
  StoreOptions &
  NewDiskOptions &
  AttachOptions &
  DetachOptions &
  GenerationOptions &
  ListOptions &
  ExpireOptions &
  CollectOptions &
  ReaderOptions &
  VerifyReaderOptions);

/** Every option of every function. */
const OPTIONS: Readonly<Record<Option, true>> = {
  ...{ signal: true, onProgress: true, workers: true, digest: true, cache: true, resolve: true },
  ...{
    level: true,
    pieceSize: true,
    format: true,
    overwrite: true,
    resume: true,
    copyTo: true,
    durable: true,
  },
  ...{ connections: true, partSize: true, timeouts: true, retries: true, headers: true, s3: true },
  ...{ base: true, baseDigest: true, changed: true },
  ...{ maxBytes: true, create: true, verifyBytesPerSecond: true, bytesPerSecond: true },
  ...{
    image: true,
    fill: true,
    fillBytesPerSecond: true,
    readOnly: true,
    onStall: true,
    trace: true,
  },
  ...{ path: true, port: true, host: true, name: true, tls: true, discardWrites: true },
  ...{ images: true, owner: true, lease: true, from: true, size: true, label: true },
  ...{ steal: true, saveEvery: true, freeze: true, thaw: true, hookTimeout: true, save: true },
  ...{ generation: true, prefix: true, after: true, keepLast: true, olderThan: true },
  ...{ grace: true, dryRun: true },
  ...{ fetch: true, onFrame: true },
};

const TIMEOUTS: Readonly<Record<keyof Timeouts, true>> = {
  ...{ connect: true, firstByte: true, stall: true },
};

const TLS: Readonly<Record<keyof TlsFiles, true>> = { cert: true, key: true, ca: true };

const S3: Readonly<Record<keyof S3Options, true>> = {
  ...{ endpoint: true, region: true, forcePathStyle: true, credentials: true },
};

const CREDENTIALS: Readonly<Record<keyof S3Credentials, true>> = {
  ...{ accessKeyId: true, secretAccessKey: true, sessionToken: true },
};

/**
 * Copies the options of a call. Each getter is called once, so the values that are used are the values that
 * were checked. Those that only other functions have are accepted, so that calls can share options; a name that none has
 * is a mistake.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT` if the options are not an object, if one is unknown, or if a getter throws
 */
export function readOptions<Options extends object>(options: Options): Options {
  checkObject("options", options);
  const read = knownOf("options", options, OPTIONS);
  const { timeouts, headers, s3, tls } = read;
  if (isObject(timeouts)) read.timeouts = knownOf("timeouts", timeouts, TIMEOUTS);
  if (isObject(tls)) read.tls = knownOf("tls", tls, TLS);
  if (isObject(headers)) read.headers = valuesOf("headers", headers);
  if (isObject(s3)) {
    const { credentials, ...others } = knownOf("s3", s3, S3);
    // Those of a provider have further members.
    const keys = isObject(credentials)
      ? valuesOf("s3.credentials", credentials, Object.keys(CREDENTIALS))
      : credentials;
    read.s3 = keys === undefined ? others : { ...others, credentials: keys };
  }
  return read as Options;
}

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkObject(name: string, value: unknown): void {
  if (isObject(value)) return;
  const kind = typeof value === "object" ? "an array" : typeof value;
  const found = value === null ? "null" : kind;
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected an object, found ${found}`);
}

/** Returns whether a value can hold options. A `Headers` or a `Map` cannot: its entries are not properties. */
function isObject(value: unknown): value is object {
  try {
    return typeof value === "object" && value !== null && !(Symbol.iterator in value);
  } catch {
    return false;
  }
}

/** Returns the defined properties of an object. @throws {SnapshotError} `ERR_ARGUMENT` if one is not known */
function knownOf(
  name: string,
  from: object,
  known: Readonly<Record<string, true>>,
): Record<string, unknown> {
  const own = reading(name, () => Object.keys(from));
  const unknown = own.find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) {
    throw new SnapshotError("ERR_ARGUMENT", `${name}: expected known options, found "${unknown}"`);
  }
  return valuesOf(name, from, Object.keys(known));
}

/**
 * Returns the properties of an object: all of its own, or the defined ones among `names`.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
function valuesOf(name: string, from: object, names?: readonly string[]): Record<string, unknown> {
  return reading(name, () => {
    const entries = (names ?? Object.keys(from)).map((key) => [key, Reflect.get(from, key)]);
    if (names === undefined) return Object.fromEntries(entries);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  });
}

/** Reads properties. The error of a getter is not passed on, because it may contain a secret. */
function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch {
    const message = `${name}: expected values, found a getter that throws`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }
}
