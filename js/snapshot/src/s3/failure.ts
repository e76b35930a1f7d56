import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { CleanCause, RequestFailure, regionHint } from "../http/failure.js";
import {
  isLost,
  isPermanent,
  isRetryableStatus,
  type RetryableFailure,
  retryAfter,
} from "../http/retry.js";

/** The bucket and the key of an object. */
export interface ObjectLocation {
  readonly bucket: string;
  readonly key: string;
}

/** Returns the name of an object in messages. */
export function nameOf({ bucket, key }: ObjectLocation): string {
  return `s3://${bucket}/${key}`;
}

/** Properties of errors of the AWS SDK. Others may hold secrets. */
interface SdkError {
  readonly name?: string;
  /** Of errors that the service reports. */
  readonly $fault?: unknown;
  /** The element of an S3 error with the region of the bucket. */
  readonly Region?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
  readonly $response?: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly proxyName?: string;
  };
}

/** S3 errors after which a retry may succeed, whatever their status. */
const TRANSIENT: ReadonlySet<string | undefined> = new Set([
  // The bytes were damaged or cut off on the way.
  "BadDigest",
  "IncompleteBody",
  "XAmzContentSHA256Mismatch",
  "InternalError",
  "RequestTimeout",
  "SlowDown",
  "ThrottlingException",
]);

/** The status of a request that collided with another one: `ConditionalRequestConflict`, `OperationAborted`. */
const CONFLICT = 409;

/** A failure of the AWS SDK, without secrets. */
export class S3Failure implements RetryableFailure {
  readonly cause: CleanCause;
  /** What went wrong, if it was the connection to a proxy. */
  readonly proxyMessage: string | undefined;
  /** The proxy that forwarded the response, or answered in place of the service. */
  readonly proxyName: string | undefined;
  /** The status of the response, if there was one. */
  readonly status: number | undefined;
  /** Whether the service succeeded, and its response cannot be read. */
  readonly isUnreadable: boolean = false;
  /** Whether the response explains the failure, as those of S3 do. Gateways may send a page, and `HEAD` has no body. */
  readonly hasCode: boolean = false;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  /** The region of the bucket, if the request went to another one. */
  readonly regionHint: string = "";
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(error: unknown, secrets: readonly string[] = []) {
    if (error instanceof RequestFailure) {
      // The connection to a proxy failed: the SDK passes on what its agent throws.
      const { cause } = error.details;
      this.cause = cause instanceof CleanCause ? cause : new CleanCause(error);
      this.proxyMessage = error.message;
      this.status = error.details.status;
      this.retryAfter = error.retryAfter;
      this.isTransient = error.isTransient;
      return;
    }
    const { name, Region, $fault, $metadata, $response } = Object(error) as SdkError;
    const status = $metadata?.httpStatusCode;
    // This may be the status of a successful response that the SDK cannot parse, because it was cut off.
    this.isUnreadable = status !== undefined && status < 300;
    this.status = this.isUnreadable ? undefined : status;
    this.cause = new CleanCause(error, this.status, secrets);
    this.hasCode = $fault !== undefined && this.cause.message !== "UnknownError";
    this.proxyName = $response?.proxyName;
    const region = $response?.headers?.["x-amz-bucket-region"] ?? Region;
    this.regionHint = regionHint(this.status, region);
    this.retryAfter = retryAfter($response?.headers?.["retry-after"], Date.now());
    this.isTransient =
      // The SDK has measured the clock skew, and signs the next request with the corrected time.
      $metadata?.clockSkewCorrected === true ||
      TRANSIENT.has(name) ||
      (this.status === undefined
        ? this.isUnreadable || (!isPermanent(error) && (isLost(error) || name === "TimeoutError"))
        : this.status === CONFLICT || isRetryableStatus(this.status));
  }
}

/**
 * Returns the error for a failed request for an object.
 *
 * @param hasChecksums whether the request may have had a checksum. Default: `false`
 */
export function objectError(
  code: SnapshotErrorCode,
  location: ObjectLocation,
  failure: S3Failure,
  hasChecksums = false,
): SnapshotError {
  const { cause, status } = failure;
  const hint = hasChecksums ? checksumHint(failure) : "";
  const message = `${nameOf(location)}: ${describe(location, failure)}${hint}`;
  return new SnapshotError(code, message, { cause, status });
}

/** Statuses by which services refuse header fields that they do not know. */
const REFUSED_FIELDS: ReadonlySet<number | undefined> = new Set([400, 403, 501]);

/** Returns what to do about a service that does not support the checksums of the SDK. */
function checksumHint({ status, cause: { name, message } }: S3Failure): string {
  const isLikely =
    status === 501 || /NotImplemented|checksum|crc32|sha256/i.test(`${name} ${message}`);
  if (!REFUSED_FIELDS.has(status) || !isLikely) return "";
  return "; if the service does not support checksums, set AWS_REQUEST_CHECKSUM_CALCULATION=WHEN_REQUIRED";
}

function describe({ bucket }: ObjectLocation, failure: S3Failure): string {
  const { cause, status, proxyMessage, proxyName, regionHint } = failure;
  const { name, description } = cause;
  const via = proxyName === undefined ? "" : `, through proxy ${proxyName}`;
  if (proxyMessage !== undefined) return proxyMessage;
  if (name === "NoSuchBucket") return `bucket "${bucket}" does not exist (HTTP ${status})`;
  if (failure.isUnreadable) return `the response of the service is damaged: ${description}`;
  if (status === undefined) return `no response from the service: ${description}`;
  const reason = failure.hasCode ? `, ${description}` : "";
  return `${meaningOf(status)} (HTTP ${status}${reason})${regionHint}${via}`;
}

function meaningOf(status: number): string {
  if (status === 401 || status === 403) return "access denied";
  if (status === 412) return "a condition of the request does not hold";
  if (status === 409) return "other requests for the object are under way";
  return "the service refused the request";
}
