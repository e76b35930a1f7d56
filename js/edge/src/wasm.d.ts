/** A WebAssembly module of this package, in the form of the bundle: see `scripts/lib/bundle-edge.mjs`. */
declare module "wasm:*" {
  const module: WebAssembly.Module | string;
  export default module;
}
