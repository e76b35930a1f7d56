import { SnapshotError } from "../error.js";

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkInteger(name: string, value: unknown, least: number, most: number): void {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return;
  const found = typeof value === "number" ? value : typeof value;
  const message = `${name}: expected a whole number from ${least} to ${most}, found ${found}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}
