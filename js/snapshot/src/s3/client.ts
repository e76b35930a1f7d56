import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

import type { S3, S3ClientConfig } from "@aws-sdk/client-s3";
import { unlessAborted } from "../abort.js";
import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import type { S3Credentials, S3Options } from "../options/s3-options.js";
import type { Transfer } from "../options/transfer-options.js";
import { S3Failure } from "./failure.js";

/** Which object it is. */
export interface ObjectLocation {
  readonly bucket: string;
  readonly key: string;
}

/** Where regions are when an endpoint that is not AWS does not care. */
const ANY_REGION = "us-east-1";

const NO_REGION =
  "s3.region: expected a region, in this option, the environment (AWS_REGION), or the shared " +
  "configuration (~/.aws/config), or else an endpoint; found none";

const NO_CREDENTIALS =
  "s3.credentials: expected credentials, in this option, the environment (AWS_ACCESS_KEY_ID and " +
  "AWS_SECRET_ACCESS_KEY), the shared configuration (~/.aws), or the service that a machine or " +
  "container has; found none that can be used";

/** What an object is called in messages. */
export function nameOf({ bucket, key }: ObjectLocation): string {
  return `s3://${bucket}/${key}`;
}

/** A client of S3. */
export interface OpenClient {
  readonly s3: S3;
  /** What must not be told of it. */
  readonly secrets: readonly string[];
  /** What has its connections. */
  readonly agents: readonly (HttpAgent | HttpsAgent)[];
}

/**
 * Opens a client, which has to be destroyed: its connections keep the process from ending. The AWS SDK
 * is loaded only here, since that takes a while.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT` where there is no region, or there are no credentials
 */
export async function openClient(
  options: S3Options = {},
  transfer?: Transfer,
  signal?: AbortSignal,
): Promise<OpenClient> {
  const { S3 } = await unlessAborted(import("@aws-sdk/client-s3"), signal);
  const agents = agentsOf(transfer);
  const config = configOf(options, agents, transfer);
  let s3 = await creating(() => new S3(config));
  try {
    const region = await s3.config.region().catch(() => undefined);
    if (region === undefined) {
      if (config.endpoint === undefined) throw new SnapshotError("ERR_ARGUMENT", NO_REGION);
      s3.destroy();
      s3 = new S3({ ...config, region: ANY_REGION });
    }
    return { s3, secrets: await secretsOf(s3, signal), agents };
  } catch (error) {
    s3.destroy();
    throw error;
  }
}

function configOf(
  options: S3Options,
  [httpAgent, httpsAgent]: readonly [HttpAgent, HttpsAgent],
  transfer: Transfer | undefined,
): S3ClientConfig {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  const endpoint = String(options.endpoint ?? "") || AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL;
  const forcePathStyle = options.forcePathStyle ?? endpoint !== undefined;
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(options.region === undefined ? {} : { region: options.region }),
    ...(options.credentials === undefined ? {} : { credentials: identityOf(options.credentials) }),
    forcePathStyle,
    // Tries are made here: the SDK's waits keep the process from ending, and it tries what is permanent.
    maxAttempts: 1,
    // It would be in presigned URLs, and snapshots have digests of their own.
    responseChecksumValidation: "WHEN_REQUIRED",
    // With it, the SDK makes a connection of its own for each part.
    expectContinueHeader: false,
    requestHandler: { httpAgent, httpsAgent, ...(transfer && limitsOf(transfer)) },
    // A request that is only signed has no body to be summed.
    ...(transfer === undefined ? { requestChecksumCalculation: "WHEN_REQUIRED" } : {}),
  };
}

function identityOf({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials) {
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

function agentsOf(transfer: Transfer | undefined): readonly [HttpAgent, HttpsAgent] {
  const { connections: maxSockets } = transfer ?? {};
  const options = { keepAlive: true, ...(maxSockets === undefined ? {} : { maxSockets }) };
  return [new HttpAgent(options), new HttpsAgent(options)];
}

/** How the SDK's client of HTTP waits. Its `requestTimeout` would have all of a part be sent in time. */
function limitsOf({ timeouts }: Transfer) {
  return {
    connectionTimeout: timeouts.connect,
    socketTimeout: Math.max(timeouts.firstByte, timeouts.stall),
  };
}

/** Looks for credentials now, where it can be told what is wrong. */
async function secretsOf(s3: S3, signal: AbortSignal | undefined): Promise<readonly string[]> {
  try {
    const found = await unlessAborted(s3.config.credentials(), signal);
    return [found.secretAccessKey, found.accessKeyId, found.sessionToken ?? ""];
  } catch (error) {
    signal?.throwIfAborted();
    const { cause } = new S3Failure(error);
    throw new SnapshotError("ERR_ARGUMENT", NO_CREDENTIALS, { cause });
  }
}

/** The SDK's errors about its configuration tell of it. */
async function creating<T>(create: () => T): Promise<T> {
  try {
    return create();
  } catch (error) {
    const { cause } = new S3Failure(error);
    throw new SnapshotError("ERR_ARGUMENT", `s3: ${cause.what}`, { cause });
  }
}

/** An error of work with an object. */
export function objectError(
  code: SnapshotErrorCode,
  location: ObjectLocation,
  { cause, status }: S3Failure,
): SnapshotError {
  const name = nameOf(location);
  return new SnapshotError(code, `${name}: ${found(location, cause.name, status, cause.what)}`, {
    cause,
    status,
  });
}

function found(
  { bucket }: ObjectLocation,
  name: string,
  status: number | undefined,
  what: string,
): string {
  if (name === "NoSuchBucket") return `expected a bucket "${bucket}", found none (${status})`;
  if (status === 412) return "expected nothing there, found an object (412)";
  if (status === 401 || status === 403) return `access denied (${status} ${what})`;
  if (status !== undefined) return `expected the service to take it, found ${status} ${what}`;
  return `expected an answer of the service, found ${what}`;
}
