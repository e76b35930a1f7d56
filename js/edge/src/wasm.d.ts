/** A module of this package, in the way that the file is bundled for: see `scripts/lib/bundle-edge.mjs`. */
declare module "wasm:*" {
  const module: WebAssembly.Module | string;
  export default module;
}
