import { homedir } from "node:os";

import type { S3, S3ClientConfig } from "@aws-sdk/client-s3";
import { unlessAborted } from "../abort.js";
import { SnapshotError } from "../error.js";
import { agentFor, type ProxyAgent, proxyFields } from "../http/agent.js";
import { regionHint, responseFailure } from "../http/failure.js";
import { retryAfter } from "../http/retry.js";
import type { S3Credentials, S3Options, Transfer } from "../http/transfer.js";
import { ServiceFailure } from "./failure.js";
import { clockOf, ServerClock } from "./server-clock.js";

/** The region for endpoints other than AWS if none is configured. */
const ANY_REGION = "us-east-1";

const NO_REGION =
  "s3.region: no region found; set this option, AWS_REGION, or a region in ~/.aws/config, or pass " +
  "s3.endpoint for a service other than AWS";

const NO_CREDENTIALS =
  "s3.credentials: no valid credentials found; set this option, AWS_ACCESS_KEY_ID and " +
  "AWS_SECRET_ACCESS_KEY, a profile in ~/.aws, or a role of the machine or container";

/** A client of S3 that is ready for requests. */
export interface OpenClient {
  readonly s3: S3;
  /** Its credentials, which must not appear in messages. */
  readonly secrets: readonly string[];
  /** The agents that hold its connections. */
  readonly agents: readonly ProxyAgent[];
  /** The clock of the service, as its responses tell. */
  readonly clock: ServerClock;
}

/**
 * Opens a client. The caller has to destroy it, since its connections keep the process running. The AWS SDK is
 * loaded only here, because loading it takes long.
 *
 * @param hasChecksums whether to send checksums of bytes. Default: unless the client only presigns requests, which have
 *   no body
 * @throws {SnapshotError} `ERR_ARGUMENT` if no region or no credentials are found
 */
export async function openClient(
  options: S3Options = {},
  transfer?: Transfer,
  signal?: AbortSignal,
  hasChecksums = transfer !== undefined,
): Promise<OpenClient> {
  const { S3 } = await unlessAborted(import("@aws-sdk/client-s3"), signal);
  ensureHome();
  const agents = agentsOf(transfer);
  const config = configOf(options, agents, transfer, hasChecksums);
  let s3 = await creating(() => new S3(config));
  try {
    const region = await s3.config.region().catch(() => undefined);
    if (region === undefined) {
      if (config.endpoint === undefined) throw new SnapshotError("ERR_ARGUMENT", NO_REGION);
      s3.destroy();
      s3 = new S3({ ...config, region: ANY_REGION });
    }
    s3.middlewareStack.add(throughProxy, { step: "deserialize", name: "throughProxy" });
    const clock = new ServerClock();
    s3.middlewareStack.add(observedBy(clock), { step: "deserialize", name: "serverClock" });
    return { s3, secrets: await secretsOf(s3, signal), agents, clock };
  } catch (error) {
    s3.destroy();
    throw error;
  }
}

/** Sets `HOME` as container engines do, for a user who has no home directory: the SDK would look it up and fail. */
function ensureHome(): void {
  try {
    homedir();
  } catch {
    process.env.HOME = "/";
  }
}

function configOf(
  options: S3Options,
  [httpAgent, httpsAgent]: readonly [ProxyAgent, ProxyAgent],
  transfer: Transfer | undefined,
  hasChecksums: boolean,
): S3ClientConfig {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  const endpoint = String(options.endpoint ?? "") || AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL;
  const forcePathStyle = options.forcePathStyle ?? endpoint !== undefined;
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(options.region === undefined ? {} : { region: options.region }),
    ...(options.credentials === undefined ? {} : { credentials: identityOf(options.credentials) }),
    forcePathStyle,
    // The SDK's pauses between retries keep the process running, and it retries permanent failures.
    maxAttempts: 1,
    // Validation would add a parameter to presigned URLs, and snapshots have their own digests.
    responseChecksumValidation: "WHEN_REQUIRED",
    // With `Expect: 100-continue`, the SDK opens a new connection for each part.
    expectContinueHeader: false,
    requestHandler: { httpAgent, httpsAgent, ...(transfer && limitsOf(transfer)) },
    ...(hasChecksums ? {} : { requestChecksumCalculation: "WHEN_REQUIRED" }),
  };
}

/** A request of the SDK when it is signed. */
interface SignedRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly headers: Record<string, string>;
  path: string;
}

/** A response of the SDK. */
interface ProxiedResponse {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The proxy that forwarded it, or answered in place of the service. */
  proxyName?: string;
}

/** Addresses a signed request to the proxy of the environment, if there is one for its host. */
function throughProxy<Arguments extends object, Result>(
  next: (args: Arguments) => Promise<Result>,
): (args: Arguments) => Promise<Result> {
  return async (args) => {
    const { request } = args as { readonly request: SignedRequest };
    const { path, headers, proxyName } = proxyFields(urlOf(request));
    if (path !== undefined) request.path = `${path.slice(0, -1)}${request.path}`;
    Object.assign(request.headers, headers);
    const result = await next(args);
    const { response } = result as { readonly response?: ProxiedResponse };
    if (proxyName === undefined || response === undefined) return result;
    // Only a proxy sends this status.
    if (response.statusCode === 407) {
      throw responseFailure({ statusCode: 407, headers: {}, proxyName });
    }
    // The SDK adds the response to the error, if it is one.
    response.proxyName = proxyName;
    return result;
  };
}

/** Returns the URL of the service that a request is for. */
function urlOf({ protocol, hostname, port }: SignedRequest): URL {
  return new URL(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}`);
}

/** Passes the date of each response to a clock, and to the clock that all clients of the service share. */
function observedBy(clock: ServerClock) {
  return <Arguments extends object, Result>(next: (args: Arguments) => Promise<Result>) =>
    async (args: Arguments): Promise<Result> => {
      const result = await next(args);
      const { response } = result as { readonly response?: ProxiedResponse };
      const { request } = args as { readonly request?: SignedRequest };
      for (const one of request ? [clock, clockOf(urlOf(request).origin)] : [clock])
        one.observe(response?.headers?.date);
      return result;
    };
}

function identityOf({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials) {
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

function agentsOf(transfer: Transfer | undefined): readonly [ProxyAgent, ProxyAgent] {
  const { connections: maxSockets, timeouts } = transfer ?? {};
  const options = {
    keepAlive: true,
    connectTimeout: timeouts?.connect,
    ...(maxSockets === undefined ? {} : { maxSockets }),
  };
  return [agentFor("http:", options), agentFor("https:", options)];
}

/** Properties of errors of the SDK. Others may hold secrets. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
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

/**
 * Describes what the SDK throws.
 *
 * @param hasChecksums whether the request may have had a checksum. Default: `false`
 */
export function s3Failure(
  error: unknown,
  secrets: readonly string[] = [],
  hasChecksums = false,
): ServiceFailure {
  const { name, message, Region, $fault, $metadata, $response } = Object(error) as SdkError;
  const status = $metadata?.httpStatusCode;
  const region = regionHint(status, $response?.headers?.["x-amz-bucket-region"] ?? Region);
  return new ServiceFailure(error, {
    status,
    secrets,
    hasCode: $fault !== undefined && message !== "UnknownError",
    // The SDK has measured the clock skew, and signs the next request with the corrected time.
    isTransient:
      $metadata?.clockSkewCorrected === true || TRANSIENT.has(name) || status === CONFLICT,
    retryAfter: retryAfter($response?.headers?.["retry-after"], Date.now()),
    proxyName: $response?.proxyName,
    hint: `${region}${hasChecksums ? checksumHint(status, `${name} ${message}`) : ""}`,
  });
}

/** Statuses by which services refuse header fields that they do not know. */
const REFUSED_FIELDS: ReadonlySet<number | undefined> = new Set([400, 403, 501]);

/** Returns what to do about a service that does not support the checksums of the SDK. */
function checksumHint(status: number | undefined, text: string): string {
  const isLikely = status === 501 || /NotImplemented|checksum|crc32|sha256/i.test(text);
  if (!REFUSED_FIELDS.has(status) || !isLikely) return "";
  return "; if the service does not support checksums, set AWS_REQUEST_CHECKSUM_CALCULATION=WHEN_REQUIRED";
}

/** Returns the time limits of the SDK. Its `requestTimeout` would limit the upload of a whole part. */
function limitsOf({ timeouts }: Transfer) {
  return {
    connectionTimeout: timeouts.connect,
    socketTimeout: Math.max(timeouts.firstByte, timeouts.stall),
  };
}

/** Resolves the credentials early, so that the error names the cause. */
async function secretsOf(s3: S3, signal: AbortSignal | undefined): Promise<readonly string[]> {
  try {
    const found = await unlessAborted(s3.config.credentials(), signal);
    return [found.secretAccessKey, found.accessKeyId, found.sessionToken ?? ""];
  } catch (error) {
    signal?.throwIfAborted();
    const { cause } = s3Failure(error);
    throw new SnapshotError("ERR_ARGUMENT", NO_CREDENTIALS, { cause });
  }
}

/** Converts errors of the SDK about its configuration. */
async function creating<T>(create: () => T): Promise<T> {
  try {
    return create();
  } catch (error) {
    const { cause } = s3Failure(error);
    throw new SnapshotError("ERR_ARGUMENT", `s3: ${cause.description}`, { cause });
  }
}
