import { SnapshotError } from "../error.js";

/** Throws unless a value is an integer from `min` to `max`. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkInteger(name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  const found = typeof value === "number" ? value : typeof value;
  const message = `${name}: expected a whole number from ${min} to ${max}, found ${found}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}
