/** Instantiates the WebAssembly module in the way that the bundle's runtime allows. */
import module from "wasm:edge";

import { compile } from "../compile.js";
import { instantiate } from "../module.js";

instantiate(compile(module));
