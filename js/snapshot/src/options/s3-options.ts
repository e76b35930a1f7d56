import { SnapshotError } from "../error.js";
import { checkObject } from "./read-options.js";

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

/** Checks options. @throws {SnapshotError} `ERR_ARGUMENT`, without the value, which may be secret */
export function checkS3Options(options: S3Options | undefined): void {
  if (options === undefined) return;
  checkObject("s3", options);
  const { endpoint, region, forcePathStyle, credentials } = options;
  if (endpoint !== undefined && !isHttp(endpoint)) {
    throw new SnapshotError("ERR_ARGUMENT", "s3.endpoint: expected an http: or https: URL");
  }
  if (region !== undefined && (typeof region !== "string" || region === "")) {
    throw new SnapshotError("ERR_ARGUMENT", "s3.region: expected the name of a region");
  }
  if (forcePathStyle !== undefined && typeof forcePathStyle !== "boolean") {
    throw new SnapshotError("ERR_ARGUMENT", "s3.forcePathStyle: expected true or false");
  }
  if (credentials === undefined) return;
  checkObject("s3.credentials", credentials);
  const { accessKeyId, secretAccessKey, sessionToken = "" } = credentials;
  if ([accessKeyId, secretAccessKey, sessionToken].every((text) => typeof text === "string"))
    return;
  throw new SnapshotError(
    "ERR_ARGUMENT",
    "s3.credentials: expected an accessKeyId and a secretAccessKey, both strings",
  );
}

function isHttp(endpoint: unknown): boolean {
  try {
    if (typeof endpoint !== "string" && !(endpoint instanceof URL)) return false;
    return ["http:", "https:"].includes(new URL(endpoint).protocol);
  } catch {
    return false;
  }
}
