/** The naive ways: one rule, one name and one field at a time. */
import { isToken } from "../../../../tests/support/tokens.js";

/** A well-formed field block: its fields, each with its folded lines, and the closing line. */
const FIELD = /([^:\r\n\0]*):([^\r\n\0]*\r\n(?:[ \t][^\r\n\0]*\r\n)*)/y;

export class Oracle {
  readonly #names: string[];
  readonly #prefixes: string[];

  constructor(rules: readonly string[]) {
    const lower = rules.map(lowerCase);
    this.#names = lower.filter((rule) => !rule.endsWith("*"));
    this.#prefixes = lower.filter((rule) => rule.endsWith("*")).map((rule) => rule.slice(0, -1));
  }

  matches(name: string): boolean {
    const lower = lowerCase(name);
    return (
      this.#names.some((rule) => rule === lower) ||
      this.#prefixes.some((prefix) => lower.startsWith(prefix))
    );
  }

  /** Fields without those that go. */
  strip(fields: readonly (readonly [name: string, value: string])[]): [string, string][] {
    const isConnection = ([name]: readonly [string, string]) => lowerCase(name) === "connection";
    const connections = fields.filter(isConnection).map(([, value]) => value);
    return fields
      .filter(([name]) => !this.#removes(name, connections))
      .map(([name, value]) => [name, value]);
  }

  /** The text of a well-formed field block without the fields that go; `undefined` for any other. */
  stripBlock(text: string): string | undefined {
    const fields: [string, string][] = [];
    let end = 0;
    while (end < text.length && text.slice(end) !== "\r\n") {
      FIELD.lastIndex = end;
      const [whole, name, value] = FIELD.exec(text) ?? [];
      if (whole === undefined || !isToken(name!)) return undefined;
      fields.push([name!, value!]);
      end += whole.length;
    }
    const kept = this.strip(fields).map(([name, value]) => `${name}:${value}`);
    return kept.join("") + text.slice(end);
  }

  #removes(name: string, connections: readonly string[]): boolean {
    if (this.matches(name)) return true;
    if (!this.matches("connection")) return false;
    const options = connections.flatMap((value) => value.split(",")).map(trimmed);
    return isToken(name) && options.some((option) => lowerCase(option) === lowerCase(name));
  }
}

/** Lower case as HTTP has it: that of ASCII. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A text without the ASCII white space around it. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\n\f\r]+|[ \t\n\f\r]+$/g, "");
}
