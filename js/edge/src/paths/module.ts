/** The module that queries path filters. */
import source from "wasm:paths";

import type { InitOutput } from "../../wasm/paths.js";
import { WasmModule } from "../module.js";

export const pathsModule = /* @__PURE__ */ new WasmModule<InitOutput>(
  "paths",
  "filter_new",
  source,
);
