/** `hedgerow`: everything that works on every runtime, as soon as it is imported. */
import "./instance.js";

export * from "../index.js";
export {
  buildPathFilter,
  PathFilterBuilder,
  type PathFilterOptions,
} from "../paths/build-path-filter.js";
export { measurePathFilter, type PathFilterMeasures } from "../paths/measure-path-filter.js";
