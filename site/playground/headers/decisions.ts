/** Why each field of a message is kept or stripped. */
import { explainField, type HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { blockOf, type Message, rawHeadersOf } from "./messages.js";

/** A field, and what happens to it. */
export interface Decision {
  readonly name: string;
  readonly value: string;
  readonly isStripped: boolean;
  readonly rule: string;
  readonly step: string;
}

const STEPS = {
  probe: "probe: no rule shares its length and two sampled characters",
  compared: "compared with rules, none matches",
  exact: "exact rule",
  prefix: "prefix",
} as const;

/**
 * Returns what happens to each field of a message.
 *
 * @throws {HedgerowError} if the message must be rejected
 */
export function decisionsOf(stripper: HeaderStripper, message: Message): Decision[] {
  // Checks the syntax, too.
  stripBlock(stripper, blockOf(message));
  const fields = rawHeadersOf(message);
  const kept = stripper.stripRaw(fields);
  const decisions: Decision[] = [];
  let at = 0;
  for (let index = 0; index < fields.length; index += 2) {
    const [name = "", value = ""] = fields.slice(index, index + 2);
    const isStripped = kept[at] !== name || kept[at + 1] !== value;
    if (!isStripped) at += 2;
    const { strips, rule, step, spelling } = explainField(stripper, name);
    const other = spelling === "equivalent" ? ", equivalent spelling" : "";
    const isNominated = isStripped && !strips;
    decisions.push({
      name,
      value,
      isStripped,
      rule: rule ?? "",
      step: isNominated ? "nominated by Connection" : STEPS[step] + other,
    });
  }
  return decisions;
}
