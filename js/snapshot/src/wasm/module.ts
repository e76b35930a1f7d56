import { tooLittleMemory } from "./instantiate.js";

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
