import { SnapshotError } from "../error.js";
import { checkObject } from "./read-options.js";

/**
 * Where `s3:` leads to, and as whom. What is left out comes from where the AWS SDK looks for it: the
 * environment, the shared files of configuration, and the services that machines and containers have.
 */
export interface S3Options {
  /** The URL of the service, for those that are not AWS. */
  readonly endpoint?: string | URL | undefined;
  /** The region of the bucket. */
  readonly region?: string | undefined;
  /** Whether the bucket is in the path, and not in the host: unless it is said, where there is an endpoint. */
  readonly forcePathStyle?: boolean | undefined;
  /** As whom the bucket is asked. */
  readonly credentials?: S3Credentials | undefined;
}

/** A key of AWS, or of a service that is asked as AWS is. */
export interface S3Credentials {
  /** The name of the key. */
  readonly accessKeyId: string;
  /** The secret that requests are signed with. */
  readonly secretAccessKey: string;
  /** What goes with a key that is valid for some time only. */
  readonly sessionToken?: string | undefined;
}

/** @throws {SnapshotError} `ERR_ARGUMENT`, which tells nothing of what it found: it may be secret */
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
    "s3.credentials: expected an accessKeyId and a secretAccessKey, as texts",
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
