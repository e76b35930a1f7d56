// The package of snapshots: what each program that restores one imports.
import { restoreSnapshot } from "@hedgerow/snapshot";

export const use = () => typeof restoreSnapshot === "function";
