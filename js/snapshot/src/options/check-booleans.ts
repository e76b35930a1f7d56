import { SnapshotError } from "../error.js";

/** Throws unless each named option is a boolean or undefined. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkBooleans<Name extends string>(
  options: { readonly [Key in Name]?: boolean | undefined },
  names: readonly Name[],
): void {
  for (const name of names) {
    const value: unknown = options[name];
    if (value === undefined || typeof value === "boolean") continue;
    const message = `${name}: expected true or false, found ${typeof value}`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }
}
