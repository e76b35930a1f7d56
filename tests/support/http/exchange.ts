/**
 * An HTTP exchange: a client's request and the origin's response. It is plain data, so that it can
 * be generated, shrunk, and sent to another process.
 */

/** A field line. */
export type Field = readonly [name: string, value: string];

/** Bytes of {@link contentOf}, sent with their length or in chunks. */
export interface Content {
  length: number;
  chunked: boolean;
}

/** The ways in which an origin on Node sets the fields of its response. */
export type Setting = "list" | "pairs" | "object" | "one by one";

export interface Exchange {
  method: string;
  /** The path with the query. */
  path: string;
  fields: readonly Field[];
  /** Fields that `Connection` nominates. */
  nominated: readonly string[];
  content: Content | null;
  answer: {
    status: number;
    fields: readonly Field[];
    nominated: readonly string[];
    content: Content | null;
    setting: Setting;
  };
}

/** A request or response as received. */
export interface Message {
  /** The method and the path, or the status. */
  start: string;
  fields: Field[];
  /** The digest of the body. */
  digest: string;
}

/** Returns whether a response can have a body. */
export function hasBody(method: string, status: number): boolean {
  return method !== "HEAD" && status !== 204 && status !== 304;
}
