import { HeaderStripper } from "hedgerow";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { isToken } from "../../../../tests/support/tokens.js";
import { byteOfValue, options, rulesAndFieldNames, valuesFor } from "../support/generate.js";
import { Oracle, refusable } from "../support/oracle.js";

/** Rules, and fields that are valid in `Headers`. */
const rulesAndFields = rulesAndFieldNames.chain(({ rules, names }) => {
  const valid = names.filter(isToken);
  return valuesFor(valid, byteOfValue).map((values) => ({
    rules,
    fields: valid.map((name, index): [string, string] => [name, values[index]!]),
  }));
});

const namesOf = (fields: Iterable<readonly [string, string]>) =>
  new Set([...fields].map(([name]) => name));

test("strip keeps exactly the fields that the rules keep and Connection does not nominate", () => {
  const property = fc.property(rulesAndFields, options, ({ rules, fields }, options) => {
    using stripper = new HeaderStripper(rules, options);
    const headers = new Headers(fields);
    const before = [...headers];
    const expected = new Oracle(rules, options).strip(before);
    const count = refusable(() => stripper.strip(headers));
    expect([...headers]).toEqual(expected ?? before);
    expect(count).toBe(expected && namesOf(before).size - namesOf(expected).size);
  });
  fc.assert(property, { numRuns: 600 });
});
