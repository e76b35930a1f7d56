/** The WebAssembly modules of the package, each instantiated when it is first used. */
import { HedgerowError } from "./error.js";

/** A WebAssembly module: compiled, as bytes, or as Base64. */
export type ModuleSource = WebAssembly.Module | BufferSource | string;

/** Names of the modules that `instantiate` of `hedgerow/slim` takes. */
export type ModuleName = "paths" | "block";

/** Exports that every module has. */
interface Exports {
  readonly memory: WebAssembly.Memory;
}

/** A module of this package, instantiated when it is first used. */
export class WasmModule<ModuleExports extends Exports> {
  #source: ModuleSource | undefined;
  #exports: ModuleExports | undefined;
  #bytes = new Uint8Array(0);

  /**
   * @param name its name in the package
   * @param mark the export that distinguishes it from other modules
   * @param source the module; `undefined` if it will be passed to {@link instantiate}
   */
  constructor(
    readonly name: ModuleName,
    readonly mark: keyof ModuleExports,
    source: ModuleSource | undefined,
  ) {
    this.#source = source;
  }

  /**
   * The functions of the module.
   *
   * @throws {HedgerowError} `ERR_NOT_INSTANTIATED` if there is no module yet
   */
  get exports(): ModuleExports {
    if (this.#exports === undefined) {
      if (this.#source === undefined) {
        const message = `${this.name}.wasm is not instantiated: call instantiate() of hedgerow/slim first`;
        throw new HedgerowError("ERR_NOT_INSTANTIATED", message);
      }
      this.instantiate(this.#source);
    }
    return this.#exports!;
  }

  /**
   * Instantiates the module, if it is not yet.
   *
   * @throws {HedgerowError} `ERR_MODULE` if `source` is another module, or none
   */
  instantiate(source: ModuleSource): void {
    if (this.#exports !== undefined) return;
    const module = compile(source);
    const names = WebAssembly.Module.exports(module).map(({ name }) => name);
    if (!names.includes(this.mark as string)) {
      const found = names.slice(0, 5).join(", ") || "nothing";
      throw otherVersion(this.name, `a module that exports ${found}`);
    }
    const { exports } = new WebAssembly.Instance(module, importsOf(module));
    this.#exports = exports as unknown as ModuleExports;
    this.#source = undefined;
  }

  /**
   * Returns the module's whole memory. The view detaches when the memory grows, so call this again after
   * every call that may allocate.
   */
  memory(): Uint8Array<ArrayBuffer> {
    if (this.#bytes.length === 0) {
      this.#bytes = new Uint8Array(this.exports.memory.buffer as ArrayBuffer);
    }
    return this.#bytes;
  }
}

/** Returns the error for a module that is not the one of that name and this version. */
export function otherVersion(name: ModuleName, found: string): HedgerowError {
  const message = `expected hedgerow/${name}.wasm of this version, found ${found}`;
  return new HedgerowError("ERR_MODULE", message);
}

/**
 * Returns the imports of a module. Only numbers cross the boundary, so imports that wasm-bindgen adds are called only
 * for faults of this package.
 */
function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, () => void>> = Object.create(null);
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => {
      throw new Error(`hedgerow: WebAssembly called ${name}`);
    };
  }
  return imports;
}

/** Frees objects that were collected, on runtimes that can. */
const collected =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<() => void>((free) => free());

/** An object in the memory of a module, freed by {@link free}, or when this object is collected. */
export class WasmObject {
  #free: (() => void) | undefined;

  /** @param free frees the object at `pointer`, as wasm-bindgen exports it */
  constructor(
    readonly pointer: number,
    free: (pointer: number, allowDelayed: number) => void,
  ) {
    // Delayed, so that it does not throw after a trap, which leaves the object borrowed.
    this.#free = () => free(pointer, 1);
    collected?.register(this, this.#free, this);
  }

  /** Frees the object, if it is not yet. */
  free(): void {
    collected?.unregister(this);
    this.#free?.();
    this.#free = undefined;
  }
}

/** A range of a module's memory, whose view is recreated after the memory has grown. */
export class MemoryView {
  #bytes = new Uint8Array(0);

  constructor(
    readonly start: number,
    readonly length: number,
    private readonly memory: () => Uint8Array<ArrayBuffer>,
  ) {}

  /** The current bytes. Do not keep the view: growing memory detaches it, and it is then empty. */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes.length === 0) {
      this.#bytes = this.memory().subarray(this.start, this.start + this.length);
    }
    return this.#bytes;
  }
}

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
