/** `hedgerow`: everything that works on every runtime, as soon as it is imported. */
import "./instance.js";

export {
  buildPathFilter,
  PathFilterBuilder,
  type PathFilterOptions,
} from "../build/build-path-filter.js";
export { measurePathFilter, type PathFilterMeasures } from "../build/measure-path-filter.js";
export * from "./requests.js";
