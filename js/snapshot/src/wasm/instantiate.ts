import { messageOf, SnapshotError } from "../error.js";

/**
 * Instantiates a module with its `initSync`.
 *
 * @throws {SnapshotError} `ERR_WORKER` if there is too little memory
 */
export function instantiate<T>(
  initSync: (options: { module: WebAssembly.Module }) => T,
  module: WebAssembly.Module,
): T {
  try {
    return initSync({ module });
  } catch (cause) {
    throw tooLittleMemory(cause);
  }
}

/** Returns the error of a module that could not be compiled or instantiated. */
export function tooLittleMemory(cause: unknown): SnapshotError {
  const message = `too little memory for WebAssembly, or a low limit of virtual memory (ulimit -v): ${messageOf(cause)}`;
  return new SnapshotError("ERR_WORKER", message, { cause });
}
