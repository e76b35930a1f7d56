/** Generators of exchanges whose field names are similar to the rules. */
import fc, { type Arbitrary } from "../fast-check.js";
import { TOKEN_CHARACTERS } from "../tokens.js";
import { MAX_LENGTH } from "./content.js";
import { type Content, type Exchange, type Field, hasBody, type Setting } from "./exchange.js";
import { listOf, type RuleSet } from "./rule-sets.js";

/** Fields that clients, servers and platforms set or interpret. */
const RESERVED = new Set(
  ["host", "date", "server", "expect", "upgrade", "te", "trailer", "cookie", "range"].concat(
    ["connection", "keep-alive", "content-length", "transfer-encoding", "http2-settings"],
    ["content-encoding", "accept-encoding", "proxy-connection", "content-type", "close"],
    ["proxy-authorization", "proxy-authenticate", "content-disposition"],
  ),
);

const WITH_CONTENT = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const tokenOf = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...TOKEN_CHARACTERS, "*"), minLength, maxLength });

/** Names of object members, names that sort as numbers, and names longer than any rule. */
const oddName = fc.constantFrom(
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "0", "17", "-1", "*"],
  ...["x-internal-", `x-internal-${"a".repeat(300)}`, "x-".padEnd(257, "b")],
);

/** An edit of one character of a string, another spelling of it, or none. */
function edited(text: string, kind: number, place: number, character: string): string {
  const at = place % (text.length + 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  if (kind === 0) return before + character + after;
  if (kind === 1) return before + after.slice(1);
  if (kind === 2) return before + character + after.slice(1);
  if (kind === 4) return text.replace(/[-_.]/g, (_, mark: number) => "-_."[(place + mark) % 3]!);
  return kind === 3 ? text + character.repeat(1 + (place % 9)) : text;
}

function capitalized(text: string, capitals: number): string {
  return text.replace(/[a-z]/gi, (letter, at: number) =>
    (capitals >>> (at % 32)) & 1 ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

function nearTo(rules: readonly string[]): Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom(...rules),
      fc.nat({ max: 7 }),
      fc.nat({ max: 40 }),
      fc.constantFrom(...TOKEN_CHARACTERS),
      fc.integer(),
    )
    .map(([rule, kind, place, character, capitals]) =>
      capitalized(edited(rule.replace(/\*$/, ""), kind, place, character), capitals),
    );
}

function nameFor(rules: readonly string[]): Arbitrary<string> {
  return fc
    .oneof(
      { weight: 6, arbitrary: nearTo(rules) },
      { weight: 2, arbitrary: tokenOf(1, 12) },
      { weight: 1, arbitrary: oddName },
      { weight: 1, arbitrary: fc.constantFrom("accept", "X-Kept", "x-kept", "cookie2") },
    )
    .filter((name) => name !== "" && !RESERVED.has(name.toLowerCase()));
}

function codes(min: number, max: number): Arbitrary<string> {
  return fc.integer({ min, max }).map((code) => String.fromCharCode(code));
}

/** The characters of values: those of ASCII, or all of one byte. */
const ascii = codes(0x20, 0x7e);
const latin1 = fc.oneof(
  { weight: 5, arbitrary: ascii },
  { weight: 1, arbitrary: codes(0x80, 0xff) },
);

/** Valid values, without white space around them. */
function valueFrom(unit: Arbitrary<string>): Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom("", "1", "a, b", "a;q=0.5", "x-internal-user"),
    fc.string({ unit, maxLength: 16 }).map((text) => text.replace(/^ +| +$/g, "")),
  );
}

/** Common fields. workerd drops empty ones. */
const KNOWN = new Set(["set-cookie", "accept", "accept-language", "vary", "via"]);

function knownWithText([name, value]: Field): Field {
  return [name, value === "" && KNOWN.has(name.toLowerCase()) ? "0" : value];
}

/** Fields, some repeated in the same or another case. */
function fieldsFor(
  rules: readonly string[],
  also: Arbitrary<string>,
  value: Arbitrary<string>,
): Arbitrary<Field[]> {
  const name = fc.oneof({ weight: 6, arbitrary: nameFor(rules) }, { weight: 1, arbitrary: also });
  const again = fc.tuple(fc.nat(), value, fc.integer());
  return fc
    .tuple(
      fc.array(fc.tuple(name, value), { maxLength: 12, size: "max" }),
      fc.array(again, { maxLength: 3, size: "max" }),
    )
    .map(([fields, repeats]) => {
      const repeated = repeats.flatMap(([number, text, capitals]): Field[] => {
        const name = fields[number % fields.length]?.[0];
        return name === undefined ? [] : [[capitalized(name, capitals), text]];
      });
      return [...fields, ...repeated].map(knownWithText);
    });
}

const content: Arbitrary<Content | null> = fc.oneof(
  { weight: 16, arbitrary: fc.constant(null) },
  {
    weight: 16,
    arbitrary: fc.record({ length: fc.nat({ max: 4096 }), chunked: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ length: fc.nat({ max: MAX_LENGTH }), chunked: fc.boolean() }),
  },
);

const nominations = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(fc.nat(), { maxLength: 3, size: "max" }) },
);

function nominated(fields: readonly Field[], numbers: readonly number[]): string[] {
  if (fields.length === 0) return [];
  return numbers.map((number) => fields[number % fields.length]![0]);
}

const path = fc
  .string({ unit: fc.constantFrom(..."abcXYZ019-_~%"), maxLength: 24 })
  .map((text) => `/${text.replaceAll("%", "%2F")}?q=${text.length}`);

/**
 * Returns a generator of exchanges for servers with the rules of `set`.
 *
 * @param isLatin1 whether the values of requests and of responses have characters outside ASCII
 */
export function exchangesFor(
  set: RuleSet,
  isLatin1: { requests: boolean; responses: boolean },
): Arbitrary<Exchange> {
  const sent = valueFrom(isLatin1.requests ? latin1 : ascii);
  const answered = valueFrom(isLatin1.responses ? latin1 : ascii);
  return fc
    .record({
      method: fc.constantFrom("GET", "GET", "HEAD", ...WITH_CONTENT),
      path,
      fields: fieldsFor(listOf(set.requests), fc.constant("Accept-Language"), sent),
      nominations: fc.tuple(nominations, nominations),
      content,
      status: fc.constantFrom(200, 200, 200, 201, 204, 206, 301, 304, 400, 404, 418, 500, 503),
      answerFields: fieldsFor(
        listOf(set.responses),
        fc.constantFrom("Set-Cookie", "set-cookie"),
        answered,
      ),
      answer: content,
      setting: fc.constantFrom<Setting>("list", "pairs", "object", "one by one"),
    })
    .map(({ nominations, content, status, answerFields, answer, setting, ...request }) => ({
      ...request,
      nominated: nominated(request.fields, nominations[0]),
      content: WITH_CONTENT.includes(request.method) ? content : null,
      answer: {
        status,
        fields: answerFields,
        nominated: nominated(answerFields, nominations[1]),
        content: hasBody(request.method, status) ? answer : null,
        setting,
      },
    }));
}
