import { FleetError } from "../error.js";
import { engineError } from "./engine-error.js";

/** What to do about errors of Redis that do not say it. */
const ADVICE = [
  [
    /\b(?:MOVED|ASK|CROSSSLOT)\b/,
    "the server is one node of a cluster: pass a client of createCluster",
  ],
  [
    /\bREADONLY\b/,
    "a new connection reaches a replica, too: the fleet does not see changes of this host",
  ],
  [
    /\bMASTERDOWN\b/,
    "a new connection reaches a replica without a primary, too: what it holds is out of date",
  ],
  [
    /\b(?:NOAUTH|NOPERM|WRONGPASS)\b/,
    "connect as a user who may use the keys, the channel and EVAL",
  ],
] as const;

/** Returns the error for a failure of Redis, with what to do about it. */
export function redisError(cause: unknown): FleetError {
  if (cause instanceof FleetError) return cause;
  const { code, message } = engineError("Redis", cause);
  const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
  return new FleetError(code, advice === undefined ? message : `${message}: ${advice}`);
}
