/** Direct access to the object store, for setting it up and cleaning it up. */
import { S3 } from "@aws-sdk/client-s3";

import type { S3Server } from "./server.js";

export class Store {
  readonly server: S3Server;
  readonly #s3: S3;

  constructor(server: S3Server) {
    const { region, credentials } = server;
    this.server = server;
    this.#s3 = new S3({
      endpoint: server.endpoint.href,
      region,
      credentials,
      forcePathStyle: true,
    });
  }

  async put(key: string, body: Buffer): Promise<void> {
    await this.#s3.putObject({ Bucket: this.server.bucket, Key: key, Body: body });
  }

  async remove(key: string): Promise<void> {
    await this.#s3.deleteObject({ Bucket: this.server.bucket, Key: key });
  }

  /** Aborts the uploads of a key, as a lifecycle rule does after a process was killed. */
  async abortUploads(key: string): Promise<void> {
    for (const upload of this.server.multipartUploads()) {
      if (upload.key !== key) continue;
      const { uploadId: UploadId } = upload;
      await this.#s3.abortMultipartUpload({ Bucket: this.server.bucket, Key: key, UploadId });
    }
  }

  close(): void {
    this.#s3.destroy();
  }
}
