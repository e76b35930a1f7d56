import type { MakePolicy } from "../policy.js";
import { boundedLoads } from "./bounded-loads.js";
import { consistentHashing } from "./consistent-hashing.js";
import { hedgerow, hedgerowEven } from "./hedgerow.js";
import { imageLocality } from "./image-locality.js";
import { leastLoaded } from "./least-loaded.js";
import { random } from "./random.js";
import { rendezvous } from "./rendezvous.js";
import { twoChoices } from "./two-choices.js";

/** The name of a policy. */
export type PolicyName =
  | "random"
  | "least loaded"
  | "best of two"
  | "consistent hashing"
  | "bounded loads"
  | "rendezvous"
  | "ImageLocality"
  | "hedgerow"
  | "hedgerow, bound 1.05";

/** The policies by name, in the order of tables. */
export const MAKERS: Readonly<Record<PolicyName, MakePolicy>> = {
  random,
  "least loaded": leastLoaded,
  "best of two": twoChoices,
  "consistent hashing": consistentHashing,
  "bounded loads": boundedLoads,
  rendezvous,
  ImageLocality: imageLocality,
  hedgerow,
  "hedgerow, bound 1.05": hedgerowEven,
};

/** The names of all policies, in the order of tables. */
export const POLICIES = Object.keys(MAKERS) as readonly PolicyName[];
