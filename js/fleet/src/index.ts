/** `@hedgerow/fleet`: decides where sandboxes start, and shares what hosts know of each other. */

export { FleetError, type FleetErrorCode } from "./error.js";
export {
  type FillLease,
  type FillLeaseOptions,
  type FillReason,
  fillLease,
} from "./fill-lease.js";
export { type CompleteHost, type Host, Hosts } from "./placement/hosts.js";
export {
  type Placement,
  type PlacementCandidate,
  type PlacementOptions,
  type PlacementReason,
  placement,
} from "./placement/placement.js";
export { RequestShares, type RequestSharesOptions } from "./placement/request-shares.js";
export {
  encodeGone,
  encodeMessage,
  type FleetEngine,
  type HostChange,
  type HostStatus,
  type HostVersion,
  type SlotRequest,
  type StoredHost,
} from "./residency/engine.js";
export type {
  RedisClient,
  RedisCluster,
  RedisCommandOptions,
  RedisConnection,
} from "./residency/redis-client.js";
export { type RedisEngineOptions, redisEngine } from "./residency/redis-engine.js";
export {
  type ReportedStatus,
  type ReportOptions,
  type ResidencyReport,
  reportResidency,
} from "./residency/report.js";
export { Residency, type ResidencyHost, type ResidencyOptions } from "./residency/residency.js";
export { type RouteOptions, SharedTier, type SharedTierOptions } from "./shared-tier.js";
