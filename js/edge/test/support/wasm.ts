/** The WebAssembly instances of the package. */
export { memoryBytes as memorySize } from "../../../../tests/support/memories.js";
