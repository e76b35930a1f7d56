/** Instantiates the WebAssembly module as the runtime at hand can have it. */
import module from "wasm:edge";

import { compile } from "../compile.js";
import { instantiate } from "../module.js";

instantiate(compile(module));
