import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

import type { S3 } from "@aws-sdk/client-s3";

import type { SnapshotErrorCode } from "../error.js";
import type { S3Options, Transfer } from "../http/transfer.js";
import { sendCall } from "./failure.js";
import { nameOf, type ObjectLocation } from "./object-service.js";
import { type OpenClient, openClient, s3Failure } from "./s3-client.js";

/** The smallest part that S3 accepts, except for the last, in bytes. */
export const MIN_PART_SIZE = 5 * 2 ** 20;

/** The most parts that an object of S3 may have. */
export const MAX_PARTS = 10_000;

/** Options of every call of the SDK. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
}

/** One object of S3. */
export class S3Object {
  private constructor(
    readonly location: ObjectLocation,
    private readonly client: OpenClient,
    private readonly retries: number,
    /** Whether the SDK sends checksums of bytes. */
    readonly hasChecksums: boolean,
  ) {}

  /**
   * @param hasChecksums whether the SDK sends checksums of bytes. An upload with copies cannot have them: some services
   *   return wrong checksums of copied ranges
   * @throws {SnapshotError} `ERR_ARGUMENT` if no region or no credentials are found
   */
  static async open(
    location: ObjectLocation,
    options: S3Options | undefined,
    transfer: Transfer,
    signal: AbortSignal | undefined,
    hasChecksums = true,
  ): Promise<S3Object> {
    const client = await openClient(options, transfer, signal, hasChecksums);
    return new S3Object(location, client, transfer.retries, hasChecksums);
  }

  /** The time of the service in milliseconds since 1970, or undefined if no response had a `Date`. */
  get now(): number | undefined {
    return this.client.clock.now();
  }

  /** Returns the same service for another object. */
  at(location: ObjectLocation): S3Object {
    return new S3Object(location, this.client, this.retries, this.hasChecksums);
  }

  /** The name of the object in messages. */
  get name(): string {
    return nameOf(this.location);
  }

  /**
   * Calls the service, and retries transient failures.
   *
   * @param signal prevents the next attempt, and its reason is thrown; a request in progress still ends
   * @param late cancels a request in progress
   * @param code that of the error. Default: `ERR_TARGET`
   * @param repeats whether to send the request again if no answer has come. Default: `true`
   * @throws {SnapshotError} `code`, and what `call` throws
   */
  async send<T>(
    call: (s3: S3, options: CallOptions) => Promise<T>,
    signal: AbortSignal,
    late: AbortSignal,
    code: SnapshotErrorCode = "ERR_TARGET",
    repeats = true,
  ): Promise<T> {
    const { retries, location, hasChecksums } = this;
    const failureOf = (error: unknown) => s3Failure(error, this.client.secrets, hasChecksums);
    return sendCall({ retries, location, failureOf }, { signal, code, repeats }, () =>
      call(this.client.s3, { abortSignal: late }),
    );
  }

  /**
   * Closes connections whose request has not been sent completely, so that the service discards it. A request
   * that was sent completely may be carried out, and only its response tells when. Returns whether any
   * connection was closed.
   *
   * @param isCertain whether to close only connections whose request is certainly incomplete: with TLS, the
   *   system may already hold the end of a request, and still sends it
   */
  cutUnsent(isCertain: boolean): boolean {
    const unsent = this.#sockets().filter((socket) => {
      if (socket.connecting) return true;
      return socket.writableLength > 0 && !(isCertain && socket instanceof TLSSocket);
    });
    for (const socket of unsent) cut(socket);
    // These have sent nothing to the service.
    for (const agent of this.client.agents) agent.destroyPending();
    return unsent.length > 0;
  }

  /** Returns the connections in use. */
  #sockets(): readonly Socket[] {
    const inUse = this.client.agents.flatMap(({ sockets }) => Object.values(sockets));
    return inUse.flatMap((sockets) => sockets ?? []);
  }

  /** Closes all connections, which would keep the process running. */
  close(): void {
    this.client.s3.destroy();
  }
}

/** Closes a connection. Unless it is reset, the system still sends what it holds of a request. */
function cut(socket: Socket): void {
  if (socket.connecting || socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
