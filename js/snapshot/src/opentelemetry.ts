/** `@hedgerow/snapshot/opentelemetry`: metrics of image caches and disks. Imports nothing from OpenTelemetry but types. */
export { observeCache } from "./opentelemetry/observe-cache.js";
export { observeDisk } from "./opentelemetry/observe-disk.js";
