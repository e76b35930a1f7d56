import { HedgerowError } from "./error.js";

/** A WebAssembly module: compiled, as bytes, or as Base64. */
export type ModuleSource = WebAssembly.Module | BufferSource | string;

/**
 * Returns the compiled module, compiling it if needed.
 *
 * @throws {HedgerowError} `ERR_MODULE` if `source` is not a WebAssembly module
 */
export function compile(source: ModuleSource): WebAssembly.Module {
  try {
    if (Object.prototype.toString.call(source) === "[object WebAssembly.Module]") {
      // Throws for an object that only claims to be a module.
      WebAssembly.Module.exports(source as WebAssembly.Module);
      return adopt(source as WebAssembly.Module);
    }
    const bytes = typeof source === "string" ? fromBase64(source) : (source as BufferSource);
    return new WebAssembly.Module(bytes);
  } catch (error) {
    // Out of memory.
    if (error instanceof RangeError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new HedgerowError("ERR_MODULE", `expected a WebAssembly module: ${reason}`, {
      cause: error,
    });
  }
}

/** Gives a module of another realm this realm's prototype, which the glue checks: Next.js compiles outside. */
function adopt(module: WebAssembly.Module): WebAssembly.Module {
  if (module instanceof WebAssembly.Module) return module;
  return Object.setPrototypeOf(module, WebAssembly.Module.prototype);
}

/** The fast Base64 decoders that some runtimes have. */
type Decoders = {
  Uint8Array: { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  Buffer?: { from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> };
};

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const { Uint8Array: Bytes, Buffer } = globalThis as unknown as Decoders;
  if (Bytes.fromBase64 !== undefined) return Bytes.fromBase64(text);
  if (Buffer !== undefined) return Buffer.from(text, "base64");
  return Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
}
