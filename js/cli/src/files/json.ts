import { readFile } from "node:fs/promises";

import { parse as parseToml } from "smol-toml";

import { CliError, messageOf, systemCode } from "../error.js";

/** A value in an untrusted JSON or TOML file, with its position for error messages. */
export class Json {
  private constructor(
    private readonly value: unknown,
    private readonly where: string,
  ) {}

  static async read(file: string): Promise<Json> {
    return Json.parse(await readFile(file, "utf8"), file);
  }

  static parse(text: string, file: string): Json {
    try {
      return new Json(JSON.parse(text), file);
    } catch (error) {
      throw new CliError("ERR_SOURCE", `${file}: expected JSON: ${messageOf(error)}`);
    }
  }

  static parseToml(text: string, file: string): Json {
    try {
      return new Json(parseToml(text), file);
    } catch (error) {
      // The other lines of the message quote the file.
      const [reason] = messageOf(error).split("\n", 1);
      throw new CliError("ERR_SOURCE", `${file}: expected TOML: ${reason}`);
    }
  }

  /** Reads an optional file. If it is missing, every value in it is missing. */
  static async readIfThere(file: string): Promise<Json> {
    try {
      return await Json.read(file);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return new Json(undefined, file);
      throw error;
    }
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** Returns a member of an object, which may be missing. */
  get(name: string): Json {
    const member = this.isThere ? this.object()[name] : undefined;
    return new Json(member, `${this.where}: ${name}`);
  }

  /** Returns the members of an object; none if it is missing. */
  entries(): [string, Json][] {
    if (!this.isThere) return [];
    return Object.entries(this.object()).map(([name, value]) => [
      name,
      new Json(value, `${this.where}: ${name}`),
    ]);
  }

  /** Returns the items of a list; none if it is missing. */
  items(): Json[] {
    if (!this.isThere) return [];
    if (!Array.isArray(this.value)) throw this.error("a list");
    return this.value.map((item, index) => new Json(item, `${this.where}[${index}]`));
  }

  string(): string {
    if (typeof this.value !== "string") throw this.error("a string");
    return this.value;
  }

  stringIfThere(): string | undefined {
    return this.isThere ? this.string() : undefined;
  }

  numberIfThere(): number | undefined {
    if (!this.isThere) return undefined;
    if (typeof this.value !== "number") throw this.error("a number");
    return this.value;
  }

  booleanIfThere(): boolean | undefined {
    if (!this.isThere) return undefined;
    if (typeof this.value !== "boolean") throw this.error("true or false");
    return this.value;
  }

  /** Whether the value equals this one. */
  is(value: string | number | boolean): boolean {
    return this.value === value;
  }

  get isList(): boolean {
    return Array.isArray(this.value);
  }

  get isString(): boolean {
    return typeof this.value === "string";
  }

  /** Returns an error that names the position and the value found. */
  error(expected: string): CliError {
    const message = `${this.where}: expected ${expected}, found ${excerptOf(this.value)}`;
    return new CliError("ERR_SOURCE", message);
  }

  private object(): Record<string, unknown> {
    if (typeof this.value !== "object" || this.value === null || this.isList) {
      throw this.error("an object");
    }
    return this.value as Record<string, unknown>;
  }
}

/** Returns the beginning of a value, as JSON. */
export function excerptOf(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 100) ?? "nothing";
  } catch {
    // `JSON.parse` has no limit, but this overflows the stack.
    return "lists or objects in too many others";
  }
}
