/**
 * A WebAssembly module of this package, in the form of the bundle. See `scripts/lib/bundle-edge.mjs`.
 */
declare module "wasm:build" {
  const module: WebAssembly.Module | string;
  export default module;
}

/** The same for modules that `hedgerow/slim` leaves out. */
declare module "wasm:*" {
  const module: WebAssembly.Module | string | undefined;
  export default module;
}
