/** Naive implementations: one rule, one name and one field at a time. */
import type { HeaderStripperOptions, HedgerowError } from "hedgerow";
import { isToken } from "../../../../tests/support/tokens.js";

/** A well-formed field block: its fields, each with its folded lines, and the closing line. */
const FIELD = /([^:\r\n\0]*):([^\r\n\0]*\r\n(?:[ \t][^\r\n\0]*\r\n)*)/y;

export class Oracle {
  readonly #names: string[];
  readonly #prefixes: string[];

  readonly #keeps: boolean;
  readonly #fold: (name: string) => string;

  constructor(rules: readonly string[], { mode, spelling }: HeaderStripperOptions = {}) {
    this.#keeps = mode === "keep";
    this.#fold = this.#keeps || spelling === "exact" ? lowerCase : folded;
    const all = [...rules, ...(this.#keeps ? ESSENTIAL : [])].map(this.#fold);
    this.#names = all.filter((rule) => !rule.endsWith("*"));
    this.#prefixes = all.filter((rule) => rule.endsWith("*")).map((rule) => rule.slice(0, -1));
  }

  matches(name: string): boolean {
    const text = this.#fold(name);
    return (
      this.#names.some((rule) => rule === text) ||
      this.#prefixes.some((prefix) => text.startsWith(prefix))
    );
  }

  /** Returns whether a field is stripped, unless `Connection` nominates it. */
  strips(name: string): boolean {
    return this.#keeps ? !this.matches(name) && !name.startsWith(":") : this.matches(name);
  }

  /** Returns the stripped fields; `undefined` if `Connection` nominates a field for all recipients. */
  strip(fields: readonly Field[]): Field[] | undefined {
    const isConnection = ([name]: Field) => lowerCase(name) === "connection";
    const connections = fields.filter(isConnection).map(([, value]) => value);
    const fates = fields.map((field) => this.#fate(field, connections));
    if (fates.includes("refused")) return undefined;
    return fields.filter((_, index) => fates[index] === "stays");
  }

  /** Returns a stripped well-formed field block; `undefined` for a malformed one. */
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
    const framings = fields.map(([name]) => lowerCase(name)).filter((name) => FRAMING.has(name));
    const isFramedTwice = framings.includes("content-length") && framings.length > 1;
    const kept = this.strip(fields)?.map(([name, value]) => `${name}:${value}`);
    if (kept === undefined || isFramedTwice) return undefined;
    return kept.join("") + text.slice(end);
  }

  #fate([name, value]: Field, connections: readonly string[]): "stays" | "goes" | "refused" {
    const lower = lowerCase(name);
    const options = connections
      .flatMap((list) => list.split(","))
      .map(trimmed)
      .map(lowerCase);
    if (this.strips(name)) return "goes";
    if (!this.strips("connection") || !isToken(name) || !options.includes(lower)) return "stays";
    const text = folded(name);
    if (FOR_ALL.has(text) || /^(?:content|x-forwarded)-/.test(text)) return "refused";
    const isKept = lower === "upgrade" || (lower === "te" && /^trailers$/i.test(value.trim()));
    return isKept ? "stays" : "goes";
  }
}

type Field = readonly [name: string, value: string];

/** The fields that an allow-list keeps without a rule. */
export const ESSENTIAL = ["host", "content-length", "transfer-encoding", "connection"];

/** The fields that frame the body. */
const FRAMING = new Set(["content-length", "transfer-encoding"]);

/** Fields for all recipients, except those about content or forwarding. */
const FOR_ALL = new Set([
  ...[
    "host",
    "transfer-encoding",
    "authorization",
    "cookie",
    "set-cookie",
    "cache-control",
    "cdn-loop",
  ],
  ...["forwarded", "via", "x-real-ip"],
]);

/** Converts ASCII letters to lower case. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Converts a name to lower case, with `-` for `_` and `.`. */
export function folded(name: string): string {
  return lowerCase(name).replace(/[._]/g, "-");
}

/** Trims ASCII white space. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\n\f\r]+|[ \t\n\f\r]+$/g, "");
}

/** Returns the result of `strip`; `undefined` if it refuses a nomination. */
export function refusable<Result>(strip: () => Result): Result | undefined {
  try {
    return strip();
  } catch (error) {
    if ((error as HedgerowError).code !== "ERR_CONNECTION_OPTION") throw error;
    return undefined;
  }
}
