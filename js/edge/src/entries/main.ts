/** `hedgerow`: everything that runs on all runtimes, except `stripBlock`. */
export {
  buildPathFilter,
  PathFilterBuilder,
  type PathFilterOptions,
} from "../build/build-path-filter.js";
export {
  measurePathFilter,
  mergePathFilters,
  type PathFilterMeasures,
  type PathFilterMerging,
} from "../build/merge-path-filters.js";
export * from "./requests.js";
