/** The service that a location names. The client of each is loaded when it is first used. */
import { messageOf, SnapshotError } from "../error.js";
import type { Transfer, TransferOptions } from "../http/transfer.js";
import { transferOf } from "../http/transfer.js";
import type { ObjectLocation, ObjectService, ServiceKind, UploadPlan } from "./object-service.js";
import { S3Service } from "./s3.js";

/** The packages of clients that are installed only by those who need them. */
const PACKAGES: Readonly<Record<Exclude<ServiceKind, "s3">, string>> = {
  gs: "@google-cloud/storage",
  az: "@azure/storage-blob @azure/identity",
};

/**
 * Returns the service of a bucket, which the caller closes.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT` if its client is not installed, or its options are invalid
 */
export async function serviceOf(
  { service, bucket }: ObjectLocation,
  options: TransferOptions,
): Promise<ObjectService> {
  const transfer = transferOf(options);
  if (service === "s3") return new S3Service(bucket, options.s3, transfer);
  try {
    return service === "gs"
      ? await (await import("./gcs.js")).GcsService.open(bucket, options.gcs, transfer)
      : await (await import("./azure.js")).AzureService.open(bucket, options.azure, transfer);
  } catch (cause) {
    if (cause instanceof SnapshotError) throw cause;
    const { code } = Object(cause) as { readonly code?: unknown };
    const isMissing = code === "ERR_MODULE_NOT_FOUND";
    const what = isMissing
      ? `its client is not installed; run npm install ${PACKAGES[service]}`
      : `its client does not start: ${messageOf(cause)}`;
    throw new SnapshotError("ERR_ARGUMENT", `${service}://${bucket}: ${what}`, { cause });
  }
}

/** How many parts are uploaded at a time by default. */
const CONNECTIONS = 4;

/** Returns how an object of up to `size` bytes is uploaded. */
export function planOf(
  { parts }: ObjectService,
  options: { readonly overwrite?: boolean | undefined; readonly signal?: AbortSignal | undefined },
  transfer: Pick<Transfer, "partSize" | "connections">,
  size: number,
): UploadPlan {
  const { signal, overwrite = true } = options;
  return {
    size,
    partSize: Math.max(parts.minSize, transfer.partSize, Math.ceil(size / parts.max)),
    connections: transfer.connections ?? CONNECTIONS,
    overwrite,
    signal,
  };
}
