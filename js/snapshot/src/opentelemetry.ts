/** `@hedgerow/snapshot/opentelemetry`: metrics of image caches, disks and stores of disks. Imports nothing from OpenTelemetry but types. */
export { observeCache } from "./opentelemetry/observe-cache.js";
export { observeDisk } from "./opentelemetry/observe-disk.js";
export { observeStore } from "./opentelemetry/observe-store.js";
