import { HeaderStripper } from "hedgerow";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { codeUnit, options, rulesAndFieldNames, valuesFor } from "../support/generate.js";
import { Oracle, refusable } from "../support/oracle.js";

/** Rules and fields of any text, which only a raw list can hold. */
const rulesAndFields = rulesAndFieldNames.chain(({ rules, names }) =>
  valuesFor(names, codeUnit).map((values) => ({
    rules,
    fields: names.map((name, index): [string, string] => [name, values[index]!]),
  })),
);

test("stripRaw keeps exactly the other fields, unchanged and in order", () => {
  const property = fc.property(rulesAndFields, options, ({ rules, fields }, options) => {
    using stripper = new HeaderStripper(rules, options);
    const raw = fields.flat();
    const before = [...raw];
    const expected = new Oracle(rules, options).strip(fields)?.flat();
    const stripped = refusable(() => stripper.stripRaw(Object.freeze(raw)));
    expect(stripped).toEqual(expected);
    expect(raw).toEqual(before);
  });
  fc.assert(property, { numRuns: 600 });
});
