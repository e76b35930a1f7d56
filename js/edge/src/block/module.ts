/** The module that strips field blocks. */
import source from "wasm:block";

import type { InitOutput } from "../../wasm/block.js";
import { WasmModule } from "../module.js";

export const blockModule = /* @__PURE__ */ new WasmModule<InitOutput>(
  "block",
  "blockstripper_add",
  source,
);
