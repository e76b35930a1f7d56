/** The module that compiles rules. */
import source from "wasm:headers";

import type { InitOutput } from "../../wasm/headers.js";
import { WasmModule } from "../module.js";

export const headersModule = /* @__PURE__ */ new WasmModule<InitOutput>(
  "headers",
  "compile",
  source,
);
