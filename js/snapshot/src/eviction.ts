/** `@hedgerow/snapshot/eviction`: the eviction policy of `ImageCache`, for simulations. Does no I/O. */
export { type Candidate, leastRecentlyUsed } from "./cache/eviction/least-recently-used.js";
export { MARGIN } from "./cache/eviction/margin.js";
