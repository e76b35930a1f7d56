/** What a case asks of the runtime that it runs on. */
export interface Runtime {
  /** Headers that the runtime lets nobody change, with at least one field. */
  readonly immutable: Headers;
}

/** Cases by the promise that each keeps; one that does not throws. */
export type Cases = Readonly<Record<string, (runtime: Runtime) => void | Promise<void>>>;
