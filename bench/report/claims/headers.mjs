// Claims about headers, adapters and first use.
import { claim } from "./claim.mjs";

const REAL = "real";

/** @param {string} what @param {string} label @param {[method: string, label: string][]} alternatives */
const onNode = (what, label, alternatives) =>
  claim(label, [`headers-node24-${what}`, REAL, "hedgerow"], alternatives);

/** @param {string} framework @param {string} name */
const adapter = (framework, name) =>
  claim(
    `a request on ${name}, stripped both ways`,
    ["adapters-node24, processor time", framework, "headers"],
    [
      ["bare", "the framework alone"],
      ["nothing", "with middleware that does nothing"],
    ],
  );

/** @type {import("./claim.mjs").Claim[]} */
export const HEADERS = [
  claim(
    "clear an `http::HeaderMap`, native",
    ["headers-clear", REAL, "hedgerow"],
    [
      ["hashmap-foldhash", "`HashMap` with foldhash"],
      ["trie-hard", "`trie-hard`"],
      ["loop", "a loop of `remove`"],
    ],
  ),
  onNode("raw", "`stripRaw`, Node 24", [
    ["plain-table", "a lookup table in plain JavaScript"],
    ["regexp", "one `RegExp`"],
    ["tolowercase-set", "`toLowerCase()` and a `Set`"],
  ]),
  onNode("headers", "`strip(Headers)`, Node 24", [
    ["iterate-regexp", "a `RegExp`"],
    ["iterate-set", "a `Set`"],
    ["delete-loop", "120 × `delete`"],
  ]),
  onNode("block", "`stripBlock`, Node 24", [
    ["decode-split-filter-join", "decode, split, filter, join"],
  ]),
  adapter("express", "Express"),
  adapter("fastify", "Fastify"),
  adapter("hono", "Hono"),
  claim(
    "first use in a process, Node 24, bundled",
    ["start-node24", "bundled", "hedgerow"],
    [
      ["xxhash-wasm", "`xxhash-wasm`"],
      ["es-module-lexer", "`es-module-lexer`"],
    ],
  ),
  claim(
    "first use in a process, Node 24, as installed",
    ["start-node24", "as installed", "hedgerow"],
    [
      ["xxhash-wasm", "`xxhash-wasm`"],
      ["es-module-lexer", "`es-module-lexer`"],
    ],
  ),
];
