// Mounts of a benchmark, which disappear with its last process, however that ends.
import { attempt } from "../../scripts/lib/run.mjs";

/** Runs a command in a mount namespace of its own. */
const OWN_MOUNTS = ["unshare", "--mount"];

/** Returns the command to put before another one; nothing without mount namespaces, where mounting fails as well. */
export function ownMounts() {
  const [command = "", ...args] = OWN_MOUNTS;
  return attempt(command, [...args, "true"]).status === 0 ? OWN_MOUNTS : [];
}
