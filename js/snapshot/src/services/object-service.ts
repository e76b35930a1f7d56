/** One interface to the object services: what a store and an upload need of a bucket, whoever runs it. */
import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import type { ServerRequest } from "../http/request.js";

/** The services, by the scheme of their URLs. */
export type ServiceKind = "s3" | "gs" | "az";

/** The location of an object. */
export interface ObjectLocation {
  readonly service: ServiceKind;
  /** The bucket. In Azure, the account and the container: `account/container`. */
  readonly bucket: string;
  readonly key: string;
}

/** Returns the name of an object in messages: its URL. */
export function nameOf({ service, bucket, key }: ObjectLocation): string {
  return `${service}://${bucket}/${key}`;
}

/** A small object, as it was read. */
export interface StoredObject {
  readonly bytes: Buffer;
  /** Identifies this content for conditional requests: an ETag, or a generation. */
  readonly tag: string;
  /** When it was written at the latest, in milliseconds since 1970, by the clock of the service. */
  readonly modified: number;
}

/** An object in a list. */
export interface ListedObject {
  readonly key: string;
  /** The number of bytes. */
  readonly size: number;
}

/** Where a page of a list begins. */
export interface ListFrom {
  /** The key after which it begins. Default: the first. */
  readonly after?: string | undefined;
  /** What the service calls the page. */
  readonly token?: string | undefined;
}

/** A page of a list, in the order of the keys. */
export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins, if there is one. */
  readonly next: ListFrom | undefined;
}

/** How an object is uploaded. */
export interface UploadPlan {
  /** The number of bytes, at most. */
  readonly size: number;
  /** The size of each part except the last, in bytes. */
  readonly partSize: number;
  /** How many parts are uploaded at a time. */
  readonly connections: number;
  /** Whether to replace an existing object. */
  readonly overwrite: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Writes the bytes of an object. */
export type WriteBytes = (bytes: AsyncIterable<Uint8Array>) => Promise<void>;

/** The object that a service copies. */
export interface CopySource {
  readonly location: ObjectLocation;
  /** The ETag that it must have. */
  readonly etag: string;
}

/** How a request is sent. */
export interface Call {
  readonly signal?: AbortSignal | undefined;
  /** The code of errors. Default: `ERR_STORE`. */
  readonly code?: SnapshotErrorCode;
  /** Whether to send it again if no answer has come: it may still be carried out. Default: `true`. */
  readonly repeats?: boolean;
}

/**
 * A bucket of an object service. Keys are those of the service.
 *
 * Methods retry transient failures, and then throw a {@link SnapshotError} with the status of the response: 404 if there
 * is no object, 412 if a condition does not hold. A lost response may hide that an earlier attempt was carried out.
 */
export interface ObjectService {
  /** The largest number of parts, and the smallest part in bytes. */
  readonly parts: { readonly max: number; readonly minSize: number };
  /** A tag that no object has. */
  readonly unusedTag: string;
  /** The time of the service in milliseconds since 1970, or undefined if no response had a `Date`. */
  readonly now: number | undefined;
  /** Returns a request that reads an object. Its URL and its header fields are as secret as the credentials. */
  request(key: string, signal: AbortSignal | undefined): Promise<ServerRequest>;
  /** Reads an object of at most `maxLength` bytes. */
  read(key: string, maxLength: number, call: Call): Promise<StoredObject>;
  /** Returns the size of an object in bytes. */
  size(key: string, call: Call): Promise<number>;
  /** Writes an object if it still has a tag; if `tag` is undefined, if there is none. Returns the new tag. */
  write(key: string, bytes: Uint8Array, tag: string | undefined, call: Call): Promise<string>;
  /** Deletes an object. */
  delete(key: string, call: Call): Promise<void>;
  /** Lists the objects whose keys begin with a prefix. */
  list(prefix: string, from: ListFrom, call: Call): Promise<ListPage>;
  /** Writes an object atomically: it appears when `make` has written all of it and has returned. */
  upload<T>(key: string, plan: UploadPlan, make: (write: WriteBytes) => Promise<T>): Promise<T>;
  /**
   * Copies an object of the service. Returns false if the service cannot.
   *
   * @throws {SnapshotError} `ERR_SOURCE_CHANGED` if the source has another ETag
   */
  copy(key: string, source: CopySource, plan: UploadPlan): Promise<boolean>;
  /**
   * Aborts uploads under a prefix that began before a time and were not completed. Returns their number. Services that
   * remove them by themselves return 0.
   */
  abortUploads(prefix: string, before: number, dryRun: boolean, call: Call): Promise<number>;
  /** Closes all connections, which would keep the process running. */
  close(): void;
}

/** Returns the error for an object that is longer than expected. @param found its length, if that is known */
export function tooLong(name: string, maxLength: number, found: number | undefined): SnapshotError {
  const message = `${name}: expected at most ${maxLength} bytes, found ${found ?? "more"}`;
  return new SnapshotError("ERR_STORE", message);
}
