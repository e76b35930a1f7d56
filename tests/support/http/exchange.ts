/**
 * An exchange of HTTP: what a client sends, and what an origin answers. It is plain data, so that it can
 * be generated, shrunk, and sent to another process.
 */

/** A field line. */
export type Field = readonly [name: string, value: string];

/** Bytes of {@link contentOf}, sent with their length or in chunks. */
export interface Content {
  length: number;
  chunked: boolean;
}

/** How an origin on Node says what fields its answer has. */
export type Setting = "list" | "pairs" | "object" | "one by one";

export interface Exchange {
  method: string;
  /** From the first slash on, with the query. */
  path: string;
  fields: readonly Field[];
  /** Of these fields `Connection` says that they are for the next hop only. */
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

/** A request as it arrived, or an answer as it returned. */
export interface Message {
  /** The method and the path, or the status. */
  start: string;
  fields: Field[];
  /** The digest of the body. */
  digest: string;
}

/** Whether an answer may have a body. */
export function hasBody(method: string, status: number): boolean {
  return method !== "HEAD" && status !== 204 && status !== 304;
}
