import type { S3Options } from "../http/transfer.js";
import { openClient, signingTime } from "./client.js";
import { nameOf, type ObjectLocation, objectError, S3Failure } from "./failure.js";

/** The longest lifetime of a signature in S3, in seconds: a week. */
const LIFETIME = 604_800;

/** An S3 object that is read through a presigned URL, without the AWS SDK. */
export interface PresignedObject {
  /** The presigned URL. It is as secret as the credentials. */
  readonly url: URL;
  /** The name of the object in messages: `s3://bucket/key`. */
  readonly name: string;
}

/**
 * Presigns a `GET` that is valid for a week, or for as long as temporary credentials are. Only the host is signed, so
 * that requests can add headers such as `range` and `if-match`. Corrects a wrong clock of this machine, if the time of
 * the service is known.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT` if no region or no credentials are found
 */
export async function presignedGet(
  location: ObjectLocation,
  options?: S3Options,
  signal?: AbortSignal,
): Promise<PresignedObject> {
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
    return { url: time === undefined ? url : await sign(time), name: nameOf(location) };
  } catch (error) {
    throw objectError("ERR_ARGUMENT", location, new S3Failure(error, secrets));
  } finally {
    s3.destroy();
  }
}
