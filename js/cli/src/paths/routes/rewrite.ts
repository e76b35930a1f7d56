import { normalizePath } from "hedgerow";

import { keysOfText } from "./keys.js";
import { ANY, CAPTURE, groupsOf, OPEN, variationsOf } from "./variations.js";

/** `$1` or `$name` in a destination. */
const REFERENCE = /\$(\d+|[a-z_]\w*)/gi;

/** A `..` segment, which removes the segment before it, possibly a captured one. */
const DOTS = /\/(?:\.|%2e){2}(?:\/|$)/i;

/** Text before and after a capture. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

/**
 * A rewrite that copies a capture into another path, such as `/(.*)` to `/en/$1`. Inverted, it yields
 * the paths that lead to an existing one.
 */
export class Rewrite {
  private constructor(
    private readonly from: Frame,
    private readonly to: Frame,
  ) {}

  /**
   * Reads the rewrites that a pattern and its destination amount to, and the keys that it matches
   * literally. Returns `undefined` if it cannot be inverted.
   *
   * @throws SyntaxError
   */
  static read(
    source: string,
    destination: string,
  ): { rules: Rewrite[]; keys: string[] } | undefined {
    const path = destination.split(/[?#]/, 1)[0] ?? "";
    const references = new Set(Array.from(path.matchAll(REFERENCE), ([, name = ""]) => name));
    const groups = groupsOf(source);
    if (![...references].every((name) => groups.has(name))) return undefined;
    const rules: Rewrite[] = [];
    const keys: string[] = [];
    for (const { text, captures } of variationsOf(source, references)) {
      if (!OPEN.test(text)) {
        keys.push(...keysOfText(text));
        continue;
      }
      const target = path.replace(REFERENCE, (_, name: string) => captures[name] ?? "");
      const from = frameOf(text);
      const to = frameOf(target);
      if (from === undefined || to === undefined || OPEN.test(from.before + to.after)) {
        return undefined;
      }
      if (DOTS.test(to.after)) return undefined;
      // In the form of keys: decoded, without repeated or trailing slashes.
      const before = normalizePath(`${to.before}x`).slice(0, -1);
      const after = normalizePath(`/x${to.after}`).slice(2);
      rules.push(new Rewrite(from, { before, after }));
    }
    return { rules, keys };
  }

  /** Returns the keys of the paths that lead to a key. */
  keysFor(key: string): string[] {
    const { to } = this;
    if (key.endsWith("/*")) {
      const directory = key.slice(0, -1);
      // Every path that it produces is below the wildcard.
      if (to.before.startsWith(directory)) return this.spell(ANY, true);
      if (!directory.startsWith(to.before)) return [];
      return this.spell(key.slice(to.before.length), false);
    }
    // Compare without the trailing slash, because keys have none.
    if (to.after === "" && `${key}/` === to.before) return this.spell("", true);
    const end = key.length - to.after.length;
    if (!key.startsWith(to.before) || !key.endsWith(to.after) || end < to.before.length) return [];
    return this.spell(key.slice(to.before.length, end), true);
  }

  private spell(captured: string, withEnd: boolean): string[] {
    const { before } = this.from;
    const after = withEnd ? this.from.after : "";
    // A captured star is part of a name, unless it ends a wildcard.
    const text = withEnd ? captured.replaceAll("*", "%2A") : captured;
    const spellings = new Set([
      before + text + after,
      before.toLowerCase() + text + after.toLowerCase(),
    ]);
    return [...spellings].flatMap((spelled) => [...keysOfText(spelled)]).map(normalizePath);
  }
}

/** Returns the text around a capture, if there is exactly one. */
function frameOf(text: string): Frame | undefined {
  const [before, after, ...more] = text.split(CAPTURE);
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  return { before, after };
}
