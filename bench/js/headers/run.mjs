// The JavaScript suite on the Node that runs this. Prints its results as one JSON array.
import { HeaderStripper } from "hedgerow";

import { internalNames, prefixRules, requests } from "../../../scripts/lib/corpus.mjs";
import { measure } from "../measure.mjs";
import { methods } from "./methods.mjs";

/** Iterating a `Headers` is slow, and needs fewer rounds to settle. */
const ROUNDS = { raw: 60, headers: 24, block: 40 };

const rules = internalNames();
const stripper = new HeaderStripper(rules);
const ways = methods(rules, stripper, new HeaderStripper([...rules, ...prefixRules()]));
const suite = `headers-node${process.versions.node.split(".")[0]}`;

const results = ["real", "uniform", "near"].flatMap((workload) =>
  /** @type {const} */ (["raw", "headers", "block"]).flatMap((kind) =>
    measure(/** @type {any[]} */ (ways[kind]), requests(workload), ROUNDS[kind]).map((timing) => ({
      suite: `${suite}-${kind}`,
      workload,
      ...timing,
      unit: "ns/request",
    })),
  ),
);
console.log(JSON.stringify(results));
