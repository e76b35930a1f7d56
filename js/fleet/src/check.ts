import { FleetError } from "./error.js";

/** The maximum length of the identity of an image, and of the ID of a host, in UTF-16 code units. */
export const MAX_ID_LENGTH = 256;

/** Throws unless a value is a text of 1 to `MAX_ID_LENGTH` code units. @throws {FleetError} `ERR_ARGUMENT` */
export function checkId(name: string, value: unknown): asserts value is string {
  if (typeof value === "string" && value.length > 0 && value.length <= MAX_ID_LENGTH) return;
  const found = typeof value === "string" ? `${value.length}` : typeof value;
  throw invalid(name, `a text of 1 to ${MAX_ID_LENGTH} characters`, found);
}

/** Throws unless a value is a number from `min` to `max`. @throws {FleetError} `ERR_ARGUMENT` */
export function checkNumber(name: string, value: unknown, min: number, max: number): void {
  if (typeof value === "number" && value >= min && value <= max) return;
  const found = typeof value === "number" ? `${value}` : typeof value;
  throw invalid(name, `a number from ${min} to ${max}`, found);
}

/** Returns the error for an argument that is not as expected. */
export function invalid(name: string, expected: string, found: string): FleetError {
  return new FleetError("ERR_ARGUMENT", `${name}: expected ${expected}, found ${found}`);
}

/** Returns options. @throws {FleetError} `ERR_ARGUMENT` unless they are an object */
export function checkedOptions<T extends object>(options: T): T {
  if (typeof options === "object" && options !== null) return options;
  throw invalid("options", "an object", options === null ? "null" : typeof options);
}

/** Throws if there is an unknown option, such as a misspelt one. @throws {FleetError} `ERR_ARGUMENT` */
export function checkNoOthers(others: object): void {
  for (const name of Object.keys(others))
    throw invalid("options", "known options", JSON.stringify(name));
}

/** Throws unless a value is a whole number from `min` to `max`. @throws {FleetError} `ERR_ARGUMENT` */
export function checkInteger(name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  const found = typeof value === "number" ? `${value}` : typeof value;
  throw invalid(name, `a whole number from ${min} to ${max}`, found);
}

/** Throws unless a value is a function or `undefined`. @throws {FleetError} `ERR_ARGUMENT` */
export function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw invalid(name, "a function", value === null ? "null" : typeof value);
}
