/** Reads the patterns of paths in which hosts state rules, as regular expressions that match at least as much. */

/** A character that is special in a regular expression. */
const SPECIAL = /[\\^$.*+?()[\]{}|/]/g;

const NAME = /[a-z_]\w*/iy;

/** Returns a regular expression of a literal text. */
const literal = (text: string) => text.replace(SPECIAL, "\\$&");

/** Names of the groups of a pattern. JavaScript rejects a pattern with two of the same name. */
class Groups {
  readonly #names = new Set<string>();

  /** Returns a group that captures what `pattern` matches. */
  named(name: string, pattern: string): string {
    if (this.#names.has(name)) return `(${pattern})`;
    this.#names.add(name);
    return `(?<${name}>${pattern})`;
  }
}

/** Returns a regular expression for a path in which `*` matches anything, and `:name` a segment. */
export function patternOfSplat(path: string): string {
  return patternWith(path, (text, groups) =>
    text
      .split(/(\*+|:[a-z_]\w*)/i)
      .map((part, index) => {
        if (index % 2 === 0) return literal(part);
        return part.startsWith(":")
          ? groups.named(part.slice(1), "[^/]+")
          : groups.named("splat", ".*");
      })
      .join(""),
  );
}

/**
 * Returns a regular expression for a glob: `*` and `**` match anything, `:name` a segment, `{a,b}` and `@(a|b)` one
 * of several. A glob that begins with `!` matches all other paths.
 */
export function patternOfGlob(glob: string): string {
  if (glob.startsWith("!") && glob[1] !== "(") return "^.*$";
  return patternWith(glob.startsWith("/") ? glob : `/${glob}`, globText);
}

/** Returns a regular expression for a path; its end `/*` matches the directory, too, as it does on some hosts. */
function patternWith(path: string, read: (text: string, groups: Groups) => string): string {
  const groups = new Groups();
  const end = /\/\*\*?$/.exec(path);
  if (end === null) return `^${read(path, groups)}$`;
  const rest = groups.named("splat", ".*");
  return `^${read(path.slice(0, end.index), groups)}(?:/${rest})?$`;
}

function globText(glob: string, groups: Groups): string {
  let text = "";
  for (let at = 0; at < glob.length; ) {
    const name = glob[at] === ":" ? nameAt(glob, at + 1) : "";
    const group = /[@?+*!]/.test(glob[at]!) && glob[at + 1] === "(" ? closing(glob, at + 1) : -1;
    const brace = glob[at] === "{" ? closing(glob, at) : -1;
    if (name !== "") {
      at += 1 + name.length;
      const end = glob[at] === "(" ? closing(glob, at) : -1;
      if (end >= 0) at = end + 1;
      text += groups.named(name, glob[at] === "*" ? ".*" : "[^/]+");
      if (glob[at] === "*") at += 1;
    } else if (group >= 0) {
      const choices = choicesOf(glob.slice(at + 2, group), "|", groups);
      text += { "@": choices, "?": `${choices}?` }[glob[at]!] ?? ".*";
      at = group + 1;
    } else if (brace >= 0) {
      const inner = glob.slice(at + 1, brace);
      // `{1..3}` is a sequence.
      text += inner.includes("..") ? ".*" : choicesOf(inner, ",", groups);
      at = brace + 1;
    } else if (glob[at] === "*") {
      text += groups.named("splat", ".*");
      while (glob[at] === "*") at += 1;
    } else {
      text += glob[at] === "?" || glob[at] === "[" ? ".*" : literal(glob[at]!);
      at += 1;
    }
  }
  return text;
}

function choicesOf(text: string, separator: string, groups: Groups): string {
  return `(?:${splitAt(text, separator)
    .map((choice) => globText(choice, groups))
    .join("|")})`;
}

/**
 * Returns a regular expression for a pattern of `path-to-regexp`: `:name`, `:name(regex)`, `(regex)` and `{…}`, each
 * with an optional `?`, `*` or `+`.
 */
export function patternOfPath(path: string): string {
  return `^${pathText(path, new Groups())}$`;
}

function pathText(path: string, groups: Groups): string {
  let text = "";
  for (let at = 0; at < path.length; ) {
    const name = path[at] === ":" ? nameAt(path, at + 1) : "";
    if (name !== "") at += 1 + name.length;
    const opening = path[at] ?? "";
    const isGroup = opening === "(" || (name === "" && opening === "{");
    const end = isGroup ? closing(path, at) : -1;
    const inner = end < 0 ? undefined : path.slice(at + 1, end);
    if (name === "" && inner === undefined) {
      if (opening === "\\") at += 1;
      text += literal(path[at] ?? "");
      at += 1;
      continue;
    }
    if (inner !== undefined) at = end + 1;
    const modifier = /[?*+]/.test(path[at] ?? "") ? path[at]! : "";
    at += modifier.length;
    const isRepeated = modifier === "*" || modifier === "+";
    if (opening === "{" && inner !== undefined) {
      text += `(?:${pathText(inner, groups)})${modifier}`;
      continue;
    }
    const matched = isRepeated ? ".+" : (inner ?? "[^/]+");
    const group = name === "" ? `(${matched})` : groups.named(name, matched);
    const isOptional = modifier === "?" || modifier === "*";
    // The slash before an optional group belongs to it.
    if (isOptional && text.endsWith("\\/")) text = `${text.slice(0, -2)}(?:\\/${group})?`;
    else text += isOptional ? `(?:${group})?` : group;
  }
  return text;
}

/** Returns a destination with its `:name`, or `:name*` and `:name+` for several segments, as `$name`. */
export function destinationOf(destination: string | undefined): string | undefined {
  return destination?.replace(/:([a-z_]\w*)[*+]?/gi, "$$$1");
}

function nameAt(text: string, at: number): string {
  NAME.lastIndex = at;
  return NAME.exec(text)?.[0] ?? "";
}

/** Returns the index of the bracket that closes the one at an index; -1 if there is none. */
function closing(text: string, at: number): number {
  const [open, close] = text[at] === "(" ? ["(", ")"] : ["{", "}"];
  let depth = 0;
  for (let index = at; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === open) depth += 1;
    else if (text[index] === close) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}

/** Splits a text at a separator outside brackets. */
function splitAt(text: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (/[({]/.test(character)) depth += 1;
    if (/[)}]/.test(character)) depth -= 1;
    if (character === separator && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
