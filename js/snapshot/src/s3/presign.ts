import type { S3Options } from "../options/s3-options.js";
import { nameOf, type ObjectLocation, objectError, openClient } from "./client.js";
import { S3Failure } from "./failure.js";

/** The longest that S3 lets a signature last, in seconds: a week. */
const LIFETIME = 604_800;

/** An object as plain HTTP. */
export interface PresignedObject {
  /** Where it is read, without credentials in headers. It is as secret as they are. */
  readonly url: URL;
  /** What it is called in messages: `s3://bucket/key`. */
  readonly name: string;
}

/**
 * The URL that an object is read by for a week, or for as long as its credentials last, where they are
 * temporary. Only the host is signed: any other headers may go with it, such as `range` and `if-match`.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT` where there is no region, or there are no credentials
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
    const url = await getSignedUrl(s3, command, { expiresIn: LIFETIME });
    return { url: new URL(url), name: nameOf(location) };
  } catch (error) {
    throw objectError("ERR_ARGUMENT", location, new S3Failure(error, secrets));
  } finally {
    s3.destroy();
  }
}
