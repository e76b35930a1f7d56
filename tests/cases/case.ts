/** Properties of the runtime that cases use. */
export interface Runtime {
  /** Immutable headers with at least one field. */
  readonly immutable: Headers;
  /** Returns the current memory of all WebAssembly modules, in bytes. */
  readonly memoryBytes: () => number;
}

/** Test cases by title. A failing case throws. */
export type Cases<RuntimeType = Runtime> = Readonly<
  Record<string, (runtime: RuntimeType) => void | Promise<void>>
>;
