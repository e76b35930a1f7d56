/** Presigned URLs, signed at any time. */
import { GetObjectCommand, S3 } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

import type { StoredSnapshot } from "./stored.js";

/**
 * Returns a URL of an object at an address of the store.
 *
 * @param signedAt in milliseconds since 1970. Default: now
 * @param lifetime in seconds. Default: five minutes
 */
export async function presignedUrl(
  { s3, source }: Pick<StoredSnapshot, "s3" | "source">,
  endpoint: URL,
  { signedAt = Date.now(), lifetime = 300 } = {},
): Promise<string> {
  const { region, credentials } = s3;
  const client = new S3({ endpoint: endpoint.href, region, credentials, forcePathStyle: true });
  try {
    const { hostname: Bucket, pathname } = new URL(source);
    const command = new GetObjectCommand({ Bucket, Key: pathname.slice(1) });
    const signingDate = new Date(signedAt);
    return await getSignedUrl(client, command, { expiresIn: lifetime, signingDate });
  } finally {
    client.destroy();
  }
}
