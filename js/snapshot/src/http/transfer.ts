/** The options of transfers over a network: connections, retries, time limits, credentials. */
import { validateHeaderName, validateHeaderValue } from "node:http";

import {
  BOOLEAN,
  type Check,
  type Checks,
  checkObject,
  type Duration,
  duration,
  integer,
  invalid,
  is,
  millisecondsOf,
  object,
} from "../check.js";

/** Time limits for the steps of a request, each up to a day. */
export interface Timeouts {
  /** The time for a connection, TLS included. Default: `"5s"`. */
  readonly connect?: Duration | undefined;
  /** The time for the first byte of the response. Default: `"10s"`. */
  readonly firstByte?: Duration | undefined;
  /** The time for the next 4 KiB of the body, or the rest of it. Default: `"10s"`. */
  readonly stall?: Duration | undefined;
}

/**
 * The service and the credentials for `s3:`. The AWS SDK looks for omitted options in the environment, the shared
 * configuration (`~/.aws`), and the services of machines and containers.
 */
export interface S3Options {
  /** The URL of a service other than AWS. Default: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or AWS. */
  readonly endpoint?: string | URL | undefined;
  /** The region of the bucket. Default: the one of the AWS configuration. */
  readonly region?: string | undefined;
  /** Whether URLs hold the bucket in the path, not in the host. Default: `true` with an endpoint, else `false`. */
  readonly forcePathStyle?: boolean | undefined;
  /** The credentials that sign requests. Default: those of the AWS configuration. */
  readonly credentials?: S3Credentials | undefined;
}

/** An access key of AWS or a compatible service. */
export interface S3Credentials {
  /** The ID of the key. */
  readonly accessKeyId: string;
  /** The secret that signs requests. */
  readonly secretAccessKey: string;
  /** The token of a temporary key. */
  readonly sessionToken?: string | undefined;
}

/**
 * The service and the credentials for `gs:`. Google's client looks for omitted credentials in
 * `GOOGLE_APPLICATION_CREDENTIALS`, the configuration of `gcloud`, and the machine.
 */
export interface GcsOptions {
  /**
   * The URL of a service other than Google's, such as an emulator. Without TLS, it gets no credentials. Default:
   * `STORAGE_EMULATOR_HOST`, or Google.
   */
  readonly endpoint?: string | URL | undefined;
  /** The key of a service account. Default: what Google's client finds. */
  readonly credentials?: GcsCredentials | undefined;
}

/** The key of a service account of Google, as its file has it. */
export interface GcsCredentials {
  /** The name of the account. */
  readonly client_email: string;
  /** Its private key, in PEM. */
  readonly private_key: string;
}

/**
 * The account and the credentials for `az:`. Omitted credentials come from `AZURE_STORAGE_CONNECTION_STRING`,
 * `AZURE_STORAGE_KEY` or `AZURE_STORAGE_SAS_TOKEN`, or else from the login that `@azure/identity` finds.
 */
export interface AzureOptions {
  /** The URL of the account. Default: that of the connection string, or `https://<account>.blob.core.windows.net`. */
  readonly endpoint?: string | URL | undefined;
  /** The key of the account. */
  readonly accountKey?: string | undefined;
  /** A shared access signature of the container or the account. */
  readonly sasToken?: string | undefined;
}

/** Options for transfers over a network. Local files ignore them. */
export interface TransferOptions {
  /**
   * The number of concurrent connections, 1 to 256. By default it adapts to the throughput, and is reduced when the
   * server asks for less; uploads to object services use 4.
   */
  readonly connections?: number | undefined;
  /** The approximate size of a range or part, in bytes, 64 KiB to 1 GiB. Default: 8 MiB. */
  readonly partSize?: number | undefined;
  /** Time limits for the steps of a request. */
  readonly timeouts?: Timeouts | undefined;
  /** The number of consecutive retries without progress before giving up, 0 to 100. Default: 6. */
  readonly retries?: number | undefined;
  /** Headers for requests to `http:` and `https:`, such as `authorization`. A redirect to another origin drops them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The service and the credentials for `s3:`. Default: those that the AWS SDK finds. */
  readonly s3?: S3Options | undefined;
  /** The service and the credentials for `gs:`. Default: those that Google's client finds. */
  readonly gcs?: GcsOptions | undefined;
  /** The account and the credentials for `az:`. Default: those of the environment. */
  readonly azure?: AzureOptions | undefined;
}

const TIMEOUT = duration(1, 86_400_000);

/** The checks of {@link TransferOptions}. Messages do not repeat what may be secret. */
export const TRANSFER_CHECKS: Checks<TransferOptions> = {
  connections: integer(1, 256),
  partSize: integer(2 ** 16, 2 ** 30),
  timeouts: object<Timeouts>({ connect: TIMEOUT, firstByte: TIMEOUT, stall: TIMEOUT }),
  retries: integer(0, 100),
  headers: checkHeaders,
  s3: object<S3Options>({
    endpoint: is("an http: or https: URL", isHttp),
    region: is("the name of a region", (value) => typeof value === "string" && value !== ""),
    forcePathStyle: BOOLEAN,
    credentials: is("an accessKeyId and a secretAccessKey, both strings", isKey),
  }),
  gcs: object<GcsOptions>({
    endpoint: is("an http: or https: URL", isHttp),
    credentials: is("a client_email and a private_key, both strings", isServiceAccount),
  }),
  azure: object<AzureOptions>({
    endpoint: is("an http: or https: URL", isHttp),
    accountKey: is("a key in Base64", (value) => isText(value, /^[\w+/]+=*$/)),
    sasToken: is("a shared access signature", (value) => isText(value, /\bsig=/)),
  }),
};

function checkHeaders(...[name, headers]: Parameters<Check>): void {
  checkObject(name, headers);
  if (Object.entries(headers).every(isHeader)) return;
  throw invalid(name, "valid names and values of HTTP headers", "others");
}

function isHeader([name, value]: [string, unknown]): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value as string);
    return typeof value === "string";
  } catch {
    return false;
  }
}

function isHttp(endpoint: unknown): boolean {
  if (typeof endpoint !== "string" && !(endpoint instanceof URL)) return false;
  return URL.canParse(endpoint) && ["http:", "https:"].includes(new URL(endpoint).protocol);
}

/** The credentials of a provider may have further members. */
function isKey(credentials: unknown): boolean {
  const { accessKeyId, secretAccessKey, sessionToken = "" } = Object(credentials) as S3Credentials;
  return [accessKeyId, secretAccessKey, sessionToken].every((part) => typeof part === "string");
}

const isText = (value: unknown, form: RegExp) => typeof value === "string" && form.test(value);

/** The file of a key may have further members. */
function isServiceAccount(credentials: unknown): boolean {
  const { client_email, private_key } = Object(credentials) as GcsCredentials;
  return typeof client_email === "string" && typeof private_key === "string";
}

/** Transfer options with their defaults. Plain values, which threads can share. */
export interface Transfer {
  readonly connections: number | undefined;
  readonly partSize: number;
  /** In milliseconds. */
  readonly timeouts: { readonly [Name in keyof Timeouts]-?: number };
  readonly retries: number;
  /** The maximum rate at which all frames are requested, in bytes per second. Default: unlimited. */
  readonly bytesPerSecond?: number | undefined;
}

/** Applies defaults to checked options. */
export function transferOf(options: TransferOptions): Transfer {
  const { connections, partSize = 2 ** 23, retries = 6, timeouts = {} } = options;
  const { connect = "5s", firstByte = "10s", stall = "10s" } = timeouts;
  return {
    connections,
    partSize,
    retries,
    timeouts: {
      connect: millisecondsOf(connect),
      firstByte: millisecondsOf(firstByte),
      stall: millisecondsOf(stall),
    },
  };
}

/** The factor by which uploads extend the time limits, unless there are fewer attempts. */
const UPLOAD_PATIENCE = 6;

/**
 * Returns the options for uploads, with longer time limits. A gateway may receive the whole upload before it forwards
 * it, and stay silent until then. An early retry would compete with the first attempt.
 */
export function forUploads(transfer: Transfer): Transfer {
  const { retries, timeouts } = transfer;
  const times = Math.min(retries + 1, UPLOAD_PATIENCE);
  return {
    ...transfer,
    timeouts: {
      ...timeouts,
      firstByte: timeouts.firstByte * times,
      stall: timeouts.stall * times,
    },
  };
}
