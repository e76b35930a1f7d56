import { CleanCause } from "../http/clean-cause.js";
import { isLost, isPermanent, isRetryableStatus, retryAfter } from "../http/retry.js";

/** What may be on an error of the AWS SDK, besides what nobody may see. */
interface SdkError {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** What S3 calls what may fare better soon, whatever its status. */
const RETRYABLE: ReadonlySet<string | undefined> = new Set([
  "InternalError",
  "RequestTimeout",
  "SlowDown",
  "ThrottlingException",
]);

/** A failure of the AWS SDK, of which only that is kept which may be told. */
export class S3Failure {
  readonly cause: CleanCause;
  /** What the service answered, if it did. */
  readonly status: number | undefined;
  /** Whether trying again may mend it. */
  readonly isRetryable: boolean;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(error: unknown, secrets: readonly string[] = []) {
    const { name, $metadata, $response } = Object(error) as SdkError;
    const status = $metadata?.httpStatusCode;
    // What an answer says that cannot be read is no failure of the service.
    this.status = status !== undefined && status >= 300 ? status : undefined;
    this.cause = new CleanCause(error, this.status, secrets);
    this.retryAfter = retryAfter($response?.headers?.["retry-after"], Date.now());
    this.isRetryable =
      // The SDK learnt the time of the service, and will sign with it.
      $metadata?.clockSkewCorrected === true ||
      RETRYABLE.has(name) ||
      (this.status === undefined
        ? !isPermanent(error) && (isLost(error) || name === "TimeoutError")
        : isRetryableStatus(this.status));
  }
}
