import { normalizePath } from "hedgerow";

import { keysOfText } from "./keys.js";
import { ANY, CAPTURE, groupsOf, OPEN, variationsOf } from "./variations.js";

/** `$1` or `$name` in a destination. */
const REFERENCE = /\$(\d+|[a-z_]\w*)/gi;

/** A segment that takes away what is before it, which may be captured. */
const DOTS = /\/(?:\.|%2e){2}(?:\/|$)/i;

/** Text before and after what is captured. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

/**
 * A rule that puts what it captures of a path into another: `/(.*)` to `/en/$1`. Read backwards, it
 * tells which paths lead to one that is there.
 */
export class Rewrite {
  private constructor(
    private readonly from: Frame,
    private readonly to: Frame,
  ) {}

  /**
   * The rules that a pattern and its destination amount to, and the keys of what it matches
   * literally; `undefined` if it cannot be read backwards.
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
      // As keys are: decoded, without repeated slashes, and without one at the end.
      const before = normalizePath(`${to.before}x`).slice(0, -1);
      const after = normalizePath(`/x${to.after}`).slice(2);
      rules.push(new Rewrite(from, { before, after }));
    }
    return { rules, keys };
  }

  /** The keys of the paths that lead to a key. */
  keysFor(key: string): string[] {
    const { to } = this;
    if (key.endsWith("/*")) {
      const folder = key.slice(0, -1);
      // All that it makes is under the wildcard.
      if (to.before.startsWith(folder)) return this.spell(ANY, true);
      if (!folder.startsWith(to.before)) return [];
      return this.spell(key.slice(to.before.length), false);
    }
    // Without a slash at the end, as the key is.
    if (to.after === "" && `${key}/` === to.before) return this.spell("", true);
    const end = key.length - to.after.length;
    if (!key.startsWith(to.before) || !key.endsWith(to.after) || end < to.before.length) return [];
    return this.spell(key.slice(to.before.length, end), true);
  }

  private spell(captured: string, withEnd: boolean): string[] {
    const { before } = this.from;
    const after = withEnd ? this.from.after : "";
    // A star that is captured is a name, but for the one that ends a wildcard.
    const text = withEnd ? captured.replaceAll("*", "%2A") : captured;
    const spellings = new Set([
      before + text + after,
      before.toLowerCase() + text + after.toLowerCase(),
    ]);
    return [...spellings].flatMap((spelled) => [...keysOfText(spelled)]).map(normalizePath);
  }
}

/** The frame of the one capture in a text, if there is one. */
function frameOf(text: string): Frame | undefined {
  const [before, after, ...more] = text.split(CAPTURE);
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  return { before, after };
}
