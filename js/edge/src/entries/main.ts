/** `hedgerow`: everything that runs on all runtimes, except `stripBlock`. */
export {
  buildPathFilter,
  PathFilterBuilder,
  type PathFilterOptions,
} from "../build/build-path-filter.js";
export { measurePathFilter, type PathFilterMeasures } from "../build/measure-path-filter.js";
export { mergePathFilters, type PathFilterMerging } from "../build/merge-path-filters.js";
export * from "./requests.js";
