export { HedgerowError, type HedgerowErrorCode } from "./error.js";
export { HeaderStripper } from "./headers/header-stripper.js";
export { type PresetName, preset } from "./headers/presets.js";
