import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

import type { S3 } from "@aws-sdk/client-s3";

import { pause } from "../abort.js";
import { backoff, MAX_RETRY_AFTER } from "../http/retry.js";
import type { S3Options } from "../options/s3-options.js";
import type { Transfer } from "../options/transfer-options.js";
import { nameOf, type ObjectLocation, type OpenClient, objectError, openClient } from "./client.js";
import { S3Failure } from "./failure.js";

/** What every call of the SDK is told. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
}

/** The place of one object, to be written. */
export class ObjectStore {
  private constructor(
    readonly location: ObjectLocation,
    private readonly client: OpenClient,
    private readonly retries: number,
  ) {}

  /** @throws {SnapshotError} `ERR_ARGUMENT` where there is no region, or there are no credentials */
  static async open(
    location: ObjectLocation,
    options: S3Options | undefined,
    transfer: Transfer,
    signal: AbortSignal | undefined,
  ): Promise<ObjectStore> {
    const client = await openClient(options, transfer, signal);
    return new ObjectStore(location, client, transfer.retries);
  }

  /** What it is called in messages. */
  get name(): string {
    return nameOf(this.location);
  }

  /**
   * Calls the service, and tries again what may fare better then.
   *
   * @param signal ends it with its reason before the next try; what was sent is answered still
   * @param late ends what was sent
   * @throws {SnapshotError} `ERR_TARGET`
   */
  async send<T>(
    call: (s3: S3, options: CallOptions) => Promise<T>,
    signal: AbortSignal,
    late: AbortSignal,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await call(this.client.s3, { abortSignal: late });
      } catch (error) {
        signal.throwIfAborted();
        const failure = new S3Failure(error, this.client.secrets);
        const wait = Math.max(backoff(attempt), failure.retryAfter ?? 0);
        if (!failure.isRetryable || attempt > this.retries || wait > MAX_RETRY_AFTER) {
          throw objectError("ERR_TARGET", this.location, failure);
        }
        await pause(wait, signal);
      }
    }
  }

  /**
   * Cuts the connections on which a request has not been sent wholly, so that the service takes no notice of
   * it. What it may have wholly it may also do, and only its answer tells when it has. Returns whether there
   * were any.
   *
   * @param isForSure whether only those are cut of which it cannot have all: with TLS, the system may have the
   *   end of a request already, and sends it still
   */
  cutUnsent(isForSure: boolean): boolean {
    const unsent = this.#sockets().filter((socket) => {
      if (socket.connecting) return true;
      return socket.writableLength > 0 && !(isForSure && socket instanceof TLSSocket);
    });
    for (const socket of unsent) cut(socket);
    return unsent.length > 0;
  }

  /** The connections that are in use. */
  #sockets(): readonly Socket[] {
    const inUse = this.client.agents.flatMap(({ sockets }) => Object.values(sockets));
    return inUse.flatMap((sockets) => sockets ?? []);
  }

  /** Ends what connections there are: they would keep the process from ending. */
  close(): void {
    this.client.s3.destroy();
  }
}

/** What the system has of a request it sends still when its connection is closed, unless it is reset. */
function cut(socket: Socket): void {
  if (socket.connecting || socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
