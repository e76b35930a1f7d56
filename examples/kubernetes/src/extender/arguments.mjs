// Reads ExtenderArgs of k8s.io/kube-scheduler/extender/v1, whose members Go encodes with their names in Go.
import { invalid } from "../http.mjs";

/** The maximum number of nodes in a request. Kubernetes supports clusters of up to 5,000. */
const MAX_NODES = 20_000;

/** The maximum length of the name of an object in Kubernetes. */
const MAX_NAME = 253;

/** The digest of a snapshot. */
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Returns the names of the nodes, and the digest of the image that the pod needs, if it has a valid one.
 *
 * @param {any} args
 * @param {string} annotation the annotation of pods with the digest
 * @returns {{ names: string[], digest: string | undefined }}
 */
export function readArguments(args, annotation) {
  const digest = args?.Pod?.metadata?.annotations?.[annotation];
  // `nodeCacheCapable` decides which of the two the scheduler sends.
  const names = args?.NodeNames ?? args?.Nodes?.items?.map?.(nameOf);
  if (typeof args?.Pod !== "object" || args.Pod === null) throw invalid("expected Pod");
  if (!Array.isArray(names)) throw invalid("expected NodeNames or Nodes");
  if (names.length > MAX_NODES) throw invalid(`expected at most ${MAX_NODES} nodes`);
  if (!names.every(isName)) throw invalid("expected names of nodes");
  // Users write annotations: with an invalid one, all nodes are equal.
  const isValid = typeof digest === "string" && DIGEST.test(digest);
  return { names, digest: isValid ? digest : undefined };
}

/** @param {any} node */
const nameOf = (node) => node?.metadata?.name;

/** @param {unknown} name */
const isName = (name) => typeof name === "string" && name.length > 0 && name.length <= MAX_NAME;
