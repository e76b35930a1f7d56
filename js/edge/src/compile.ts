import { HedgerowError } from "./error.js";

/** A WebAssembly module as a runtime has it: compiled, its bytes, or these as Base64. */
export type ModuleSource = WebAssembly.Module | BufferSource | string;

/**
 * Compiles what is not compiled yet.
 *
 * @throws {HedgerowError} `ERR_MODULE` if it is no module
 */
export function compile(source: ModuleSource): WebAssembly.Module {
  try {
    if (Object.prototype.toString.call(source) === "[object WebAssembly.Module]") {
      // Throws if it only says so.
      WebAssembly.Module.exports(source as WebAssembly.Module);
      return ofThisRealm(source as WebAssembly.Module);
    }
    const bytes = typeof source === "string" ? fromBase64(source) : (source as BufferSource);
    return new WebAssembly.Module(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HedgerowError("ERR_MODULE", `expected a WebAssembly module: ${reason}`, {
      cause: error,
    });
  }
}

/** Next.js compiles outside of the realm that it runs middleware in; the glue asks for its class. */
function ofThisRealm(module: WebAssembly.Module): WebAssembly.Module {
  if (module instanceof WebAssembly.Module) return module;
  return Object.setPrototypeOf(module, WebAssembly.Module.prototype);
}

/** What decodes Base64 fastest, as far as a runtime has it. */
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
