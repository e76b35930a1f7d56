import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";

/** Placeholder for any number of characters. Unicode never assigns these code points. */
export const ANY = "\ufdd0";
/** Placeholder for one or more characters. */
const SOME = "\ufdd1";
/** Placeholder for the text captured by a requested group. */
export const CAPTURE = "\ufdd2";

/** Matches any placeholder. */
export const OPEN = /[\ufdd0-\ufdd2]/;

/** One of the ways in which a pattern can match. */
interface Variation {
  /** The matched text: literal except for {@link ANY}, {@link SOME} and {@link CAPTURE}. */
  readonly text: string;
  /** Captures of the requested groups, by number and by name. */
  readonly captures: Readonly<Record<string, string>>;
}

/** Beyond this, the rest counts as {@link ANY}; locales with regions stay below. */
const MAX_VARIATIONS = 4096;
/** Characters of all variations of a sequence. Beyond this, the rest counts as {@link ANY}. */
const MAX_VARIATION_TEXT = 1 << 20;
/** Beyond this, a class of characters counts as {@link SOME}. */
const MAX_CHARACTERS = 8;

/**
 * Returns a superset of the ways in which a regular expression can match: assertions count as true.
 *
 * @param groups numbers and names of the groups whose captures are requested
 * @throws SyntaxError
 */
export function variationsOf(source: string, groups: ReadonlySet<string>): readonly Variation[] {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length);
  const asked = new Map<AST.CapturingGroup, string[]>();
  for (const [group, names] of namesOfGroups(pattern)) {
    const wanted = names.filter((name) => groups.has(name));
    if (wanted.length > 0) asked.set(group, wanted);
  }
  return distinct(pattern.alternatives.flatMap((alternative) => anchored(alternative, asked)));
}

/** Returns the numbers and names of the groups of a regular expression. @throws SyntaxError */
export function groupsOf(source: string): ReadonlySet<string> {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length);
  return new Set([...namesOfGroups(pattern).values()].flat());
}

function namesOfGroups(pattern: AST.Pattern): Map<AST.CapturingGroup, string[]> {
  const names = new Map<AST.CapturingGroup, string[]>();
  visitRegExpAST(pattern, {
    onCapturingGroupEnter(group) {
      const number = String(names.size + 1);
      names.set(group, group.name === null ? [number] : [number, group.name]);
    },
  });
  return names;
}

type Asked = ReadonlyMap<AST.CapturingGroup, readonly string[]>;

/** Expands a top-level alternative, which is open at each end without an anchor. */
function anchored(alternative: AST.Alternative, asked: Asked): Variation[] {
  const { elements } = alternative;
  const isAnchor = (element: AST.Element | undefined, kind: "start" | "end") =>
    element?.type === "Assertion" && element.kind === kind;
  const start = isAnchor(elements[0], "start") ? "" : ANY;
  const end = isAnchor(elements.at(-1), "end") ? "" : ANY;
  return ofSequence(elements, asked).map(({ text, captures }) => ({
    text: start + text + end,
    captures,
  }));
}

function ofAlternatives(alternatives: AST.Alternative[], asked: Asked): Variation[] {
  const all = distinct(alternatives.flatMap(({ elements }) => ofSequence(elements, asked)));
  return all.length > MAX_VARIATIONS ? [anyOf(all)] : all;
}

function ofSequence(elements: AST.Element[], asked: Asked): Variation[] {
  let all = [literal("")];
  for (let at = 0; at < elements.length; ) {
    // Adds a run of characters at once: each may be added to thousands of variations.
    let text = "";
    for (let next = elements[at]; next?.type === "Character"; next = elements[at]) {
      text += String.fromCodePoint(next.value);
      at += 1;
    }
    const next = text === "" ? ofElement(elements[at++]!, asked) : [literal(text)];
    all = isTooMuch(all, next) ? opened(all, anyOf(next)) : joined(all, next);
  }
  return all;
}

function isTooMuch(all: readonly Variation[], next: readonly Variation[]): boolean {
  const longest = (variations: readonly Variation[]) =>
    variations.reduce((most, { text }) => Math.max(most, text.length), 0);
  const count = all.length * next.length;
  return count > MAX_VARIATIONS || count * (longest(all) + longest(next)) > MAX_VARIATION_TEXT;
}

function joined(all: readonly Variation[], next: readonly Variation[]): Variation[] {
  return all.flatMap((before) =>
    next.map((after) => ({
      text: before.text + after.text,
      captures: { ...before.captures, ...after.captures },
    })),
  );
}

/** Returns variations that any text follows. */
function opened(all: Variation[], any: Variation): Variation[] {
  const isOpen = all.every(({ text }) => text.endsWith(ANY));
  return isOpen && Object.keys(any.captures).length === 0 ? all : joined(all, [any]);
}

function ofElement(element: AST.Element, asked: Asked): Variation[] {
  switch (element.type) {
    case "Assertion":
      return [literal("")];
    case "Character":
      return [literal(String.fromCodePoint(element.value))];
    case "CharacterClass":
      return ofClass(element);
    case "Group":
      return ofAlternatives(element.alternatives, asked);
    case "CapturingGroup":
      return ofGroup(element, asked);
    case "Quantifier":
      return ofQuantifier(element, asked);
    case "Backreference":
      return [literal(ANY)];
    default:
      return [literal(SOME)];
  }
}

function ofClass({ negate, elements }: AST.CharacterClass): Variation[] {
  const characters: string[] = [];
  for (const element of elements) {
    if (negate || element.type !== "Character") return [literal(SOME)];
    characters.push(String.fromCodePoint(element.value));
  }
  return characters.length > MAX_CHARACTERS ? [literal(SOME)] : characters.map(literal);
}

function ofGroup(group: AST.CapturingGroup, asked: Asked): Variation[] {
  const inner = ofAlternatives(group.alternatives, asked);
  const names = asked.get(group);
  if (names === undefined) return inner;
  return distinct(
    inner.map(({ text, captures }) => {
      const captured = OPEN.test(text) ? CAPTURE : text;
      const own = Object.fromEntries(names.map((name) => [name, captured]));
      return { text: captured, captures: { ...captures, ...own } };
    }),
  );
}

function ofQuantifier({ min, max, element }: AST.Quantifier, asked: Asked): Variation[] {
  if (max === 0) return [literal("")];
  const inner = ofElement(element, asked);
  if (max > 1 && inner.every(({ text }) => text === SOME)) return [literal(min === 0 ? ANY : SOME)];
  const once = max === 1 ? inner : repeated(inner);
  return min === 0 ? distinct([literal(""), ...once]) : once;
}

/** Expands a repetition: one occurrence, then anything, with any capture. */
function repeated(inner: readonly Variation[]): Variation[] {
  return distinct(
    inner.map(({ text, captures }) => ({
      text: text.replaceAll(CAPTURE, ANY) + ANY,
      captures: anyCaptures(captures),
    })),
  );
}

/** Returns the variation that stands for too many: any text, with any captures. */
function anyOf(variations: readonly Variation[]): Variation {
  const captures = Object.assign({}, ...variations.map((variation) => variation.captures));
  return { text: ANY, captures: anyCaptures(captures) };
}

function anyCaptures(captures: Variation["captures"]): Variation["captures"] {
  return Object.fromEntries(Object.keys(captures).map((name) => [name, CAPTURE]));
}

function literal(text: string): Variation {
  return { text, captures: {} };
}

function distinct(variations: readonly Variation[]): Variation[] {
  return [
    ...new Map(
      variations.map((variation) => [JSON.stringify(variation), variation] as const),
    ).values(),
  ];
}
