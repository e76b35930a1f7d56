/** What a case asks of the runtime that it runs on. */
export interface Runtime {
  /** Headers that the runtime lets nobody change, with at least one field. */
  readonly immutable: Headers;
  /** How many bytes of memory all WebAssembly modules have by now. */
  readonly memoryBytes: () => number;
}

/** Cases by the promise that each keeps; one that does not throws. */
export type Cases<Asked = Runtime> = Readonly<
  Record<string, (runtime: Asked) => void | Promise<void>>
>;
