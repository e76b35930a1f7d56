/** Header fields: internal ones in all forms, which have to be stripped, and similar ones, which have to stay. */
import { type PresetName, preset } from "hedgerow";
import { Oracle } from "../../../js/edge/test/support/oracle.js";
import type { Field } from "../../support/http/exchange.js";
import type { Choices } from "../random.js";

/** All presets. */
const PRESETS: readonly PresetName[] = ["hop-by-hop", "cloudflare", "vercel", "next"];

const OWN = ["x-internal-*", "X-Debug-Token", "x-secret", "__proto__"];

/** The rules that the worker applies to requests and responses. */
export const RULES = [...OWN, ...PRESETS.flatMap((name) => preset(name))];

/** Fields that frame a message. Forging them would end the connection or the message. */
const FRAMING = ["connection", "content-length", "trailer", "transfer-encoding", "upgrade"];

/** Fields that the platform sets on the next connection. */
const SET_BY_PLATFORM = new Set([...FRAMING, "keep-alive", "cf-worker"]);

/** The value of internal fields, which must not arrive. */
const MARK = "internal-value";

/** Names that are similar to a rule and match none. */
const SIMILAR = [
  "x-internal",
  "x-debug-tokens",
  "xx-internal-a",
  "cf-inta",
  "x-now",
  "cf-rays",
  "tee",
];

const oracle = new Oracle(RULES);
const forgeable = RULES.filter((rule) => !FRAMING.includes(rule));

/** The fields of a message, and those among them that have to arrive. */
export interface Fields {
  readonly all: readonly Field[];
  readonly kept: readonly Field[];
  /** The kinds of internal fields, for the coverage. */
  readonly kinds: readonly string[];
}

/** All kinds of internal fields. */
export const FIELD_KINDS = [
  ...["own", ...PRESETS].map((name) => `rule of ${name}`),
  ...["rule: a name", "rule: a prefix", "field: twice", "field: of mixed case", "field: nominated"],
];

/** Makes fields. `Connection` nominates some of the internal ones. */
export function makeFields(choices: Choices): Fields {
  const internal: Field[] = [];
  const kinds = new Set<string>();
  const nominated: string[] = [];
  for (let count = 1 + choices.below(5); count > 0; count -= 1) {
    const rule = choices.pick(forgeable);
    const name = nameFor(rule, choices);
    internal.push([name, `${MARK} ${count}`]);
    kinds.add(rule.endsWith("*") ? "rule: a prefix" : "rule: a name");
    for (const of of origins(rule)) kinds.add(`rule of ${of}`);
    if (name !== name.toLowerCase() && name !== name.toUpperCase())
      kinds.add("field: of mixed case");
    if (choices.chance(0.3)) {
      internal.push([mixedCase(name, choices), `${MARK} again`]);
      kinds.add("field: twice");
    }
    if (choices.chance(0.2)) {
      nominated.push(name);
      kinds.add("field: nominated");
    }
  }
  const similar = choices.shuffled(SIMILAR).slice(0, 2);
  const kept = similar.map(
    (name): Field => [mixedCase(name, choices), `kept ${choices.below(1e6)}`],
  );
  const connection: Field[] =
    nominated.length === 0 ? [] : [["Connection", ["keep-alive", ...nominated].join(", ")]];
  return {
    all: [...connection, ...choices.shuffled([...internal, ...kept])],
    kept,
    kinds: [...kinds],
  };
}

/** Throws if an internal field arrived, or another one did not. */
export function checkFields(found: readonly Field[], { kept }: Fields): void {
  for (const [name, value] of found) {
    const isInternal = oracle.matches(name) && !SET_BY_PLATFORM.has(name.toLowerCase());
    if (!isInternal && !value.includes(MARK)) continue;
    throw new Error(`internal field was not stripped: ${name}: ${value}`);
  }
  for (const [name, value] of kept) {
    const isThere = found.some(
      ([one, held]) => one.toLowerCase() === name.toLowerCase() && held === value,
    );
    if (!isThere) throw new Error(`field was stripped that matches no rule: ${name}: ${value}`);
  }
}

function origins(rule: string): string[] {
  return ["own", ...PRESETS].filter((of) =>
    (of === "own" ? OWN : preset(of as PresetName)).includes(rule),
  );
}

/** Returns a name that a rule matches. */
function nameFor(rule: string, choices: Choices): string {
  if (!rule.endsWith("*")) return mixedCase(rule, choices);
  const suffix = choices.pick(["", "a", "user", "subrequest", "id-7", "a.b_c"]);
  return mixedCase(rule.slice(0, -1) + suffix, choices);
}

function mixedCase(name: string, choices: Choices): string {
  return name.replace(/[a-z]/gi, (letter) =>
    choices.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
