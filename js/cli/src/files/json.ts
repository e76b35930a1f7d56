import { readFile } from "node:fs/promises";

import { CliError, messageOf, systemCode } from "../error.js";

/** A value in a JSON file that others wrote, and where it is. What is wrong in it is said so. */
export class Json {
  private constructor(
    private readonly value: unknown,
    private readonly where: string,
  ) {}

  static async read(file: string): Promise<Json> {
    const text = await readFile(file, "utf8");
    try {
      return new Json(JSON.parse(text), file);
    } catch (error) {
      throw new CliError("ERR_SOURCE", `${file}: expected JSON: ${messageOf(error)}`);
    }
  }

  /** A file that need not be there. Without it, nothing in it is there. */
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

  /** A member of an object, there or not. */
  get(name: string): Json {
    const member = this.isThere ? this.object()[name] : undefined;
    return new Json(member, `${this.where}: ${name}`);
  }

  /** The members of an object; none if it is not there. */
  entries(): [string, Json][] {
    if (!this.isThere) return [];
    return Object.entries(this.object()).map(([name, value]) => [
      name,
      new Json(value, `${this.where}: ${name}`),
    ]);
  }

  /** The items of a list; none if it is not there. */
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

  /** Whether it is this very value. */
  is(value: string | number | boolean): boolean {
    return this.value === value;
  }

  get isList(): boolean {
    return Array.isArray(this.value);
  }

  get isString(): boolean {
    return typeof this.value === "string";
  }

  /** An error that says what was expected here, and what was found. */
  error(expected: string): CliError {
    const found = JSON.stringify(this.value)?.slice(0, 100) ?? "nothing";
    return new CliError("ERR_SOURCE", `${this.where}: expected ${expected}, found ${found}`);
  }

  private object(): Record<string, unknown> {
    if (typeof this.value !== "object" || this.value === null || this.isList) {
      throw this.error("an object");
    }
    return this.value as Record<string, unknown>;
  }
}
