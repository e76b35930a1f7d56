/** WebAssembly modules: compiled once, instantiated in each thread, and their errors. */
import { messageOf, SnapshotError, type SnapshotErrorCode } from "../error.js";

/**
 * Returns a function that compiles a module on first use. Workers receive the compiled module.
 *
 * @param load imports its bytes as Base64, in JavaScript, so that bundlers include them
 */
export function compiledOnce(
  load: () => Promise<{ readonly default: string }>,
): () => Promise<WebAssembly.Module> {
  let compiled: Promise<WebAssembly.Module> | undefined;
  return () => {
    if (compiled !== undefined) return compiled;
    const module = load().then(({ default: base64 }) =>
      WebAssembly.compile(bytesOf(base64)).catch((cause: unknown) => {
        throw tooLittleMemory(cause);
      }),
    );
    compiled = module;
    // Do not cache a failure: memory may be free again at the next call.
    module.catch(() => {
      compiled = undefined;
    });
    return module;
  };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  if (globalThis.Buffer !== undefined) return Buffer.from(base64, "base64");
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

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
function tooLittleMemory(cause: unknown): SnapshotError {
  const message = `too little memory for WebAssembly, or a low limit of virtual memory (ulimit -v): ${messageOf(cause)}`;
  return new SnapshotError("ERR_WORKER", message, { cause });
}

/** An error of a WebAssembly module: the addresses and lengths of its texts in linear memory. */
interface WasmError {
  message(): number;
  message_length(): number;
  field(): number;
  field_length(): number;
  offset(): number;
  free(): void;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Converts an error of a module to a `SnapshotError`, and frees it. @param prefix start of the message */
export function errorOf(
  code: SnapshotErrorCode,
  prefix: string,
  error: WasmError | undefined,
  memory: WebAssembly.Memory,
): SnapshotError {
  if (error === undefined) return new SnapshotError(code, `${prefix}invalid`);
  const text = (start: number, length: number) =>
    decoder.decode(new Uint8Array(memory.buffer, start, length));
  const message = text(error.message(), error.message_length());
  const field = text(error.field(), error.field_length());
  const offset = error.offset();
  error.free();
  return new SnapshotError(code, `${prefix}${message}`, field === "" ? {} : { field, offset });
}
