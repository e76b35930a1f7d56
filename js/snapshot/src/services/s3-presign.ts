import type { S3Options } from "../http/transfer.js";
import type { ObjectLocation } from "./object-service.js";
import { openClient, s3Failure } from "./s3-client.js";
import { signingTime } from "./server-clock.js";

/** The longest lifetime of a signature in S3, in seconds: a week. */
const LIFETIME = 604_800;

/**
 * Presigns a `GET` that is valid for a week, or for as long as temporary credentials are. Only the host is signed, so
 * that requests can add headers such as `range` and `if-match`. Corrects a wrong clock of this machine, if the time of
 * the service is known. The URL is as secret as the credentials.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT` if no region or no credentials are found
 */
export async function presignedGet(
  location: ObjectLocation,
  options?: S3Options,
  signal?: AbortSignal,
): Promise<URL> {
  const { s3, secrets } = await openClient(options, undefined, signal);
  try {
    const [{ getSignedUrl }, { GetObjectCommand }] = await Promise.all([
      import("@aws-sdk/s3-request-presigner"),
      import("@aws-sdk/client-s3"),
    ]);
    const command = new GetObjectCommand({ Bucket: location.bucket, Key: location.key });
    const sign = async (signingDate?: Date) => {
      const options = { expiresIn: LIFETIME, ...(signingDate && { signingDate }) };
      return new URL(await getSignedUrl(s3, command, options));
    };
    const url = await sign();
    const time = signingTime(url.origin);
    return time === undefined ? url : await sign(time);
  } catch (error) {
    throw s3Failure(error, secrets).toError("ERR_ARGUMENT", location);
  } finally {
    s3.destroy();
  }
}
