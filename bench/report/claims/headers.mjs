// Claims about headers, adapters and first uses.
import { beside } from "./claim.mjs";

const REAL = "real";

/** @param {string} what @param {string} says @param {[method: string, says: string][]} rivals */
const onNode = (what, says, rivals) =>
  beside(says, [`headers-node24-${what}`, REAL, "hedgerow"], rivals);

/** @param {string} framework @param {string} says */
const adapter = (framework, says) =>
  beside(
    `${says}, something stripped both ways`,
    ["adapters-node24, processor time", framework, "headers"],
    [
      ["bare", "the framework alone"],
      ["nothing", "with middleware that does nothing"],
    ],
  );

/** @type {import("./claim.mjs").Claim[]} */
export const HEADERS = [
  beside(
    "clear an `http::HeaderMap`, native",
    ["headers-clear", REAL, "hedgerow"],
    [
      ["hashmap-foldhash", "`HashMap` with foldhash"],
      ["trie-hard", "`trie-hard`"],
      ["loop", "a loop of `remove`"],
    ],
  ),
  onNode("raw", "`stripRaw`, Node 24", [
    ["plain-table", "a plain JS table"],
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
  adapter("express", "a request on Express"),
  adapter("fastify", "on Fastify"),
  adapter("hono", "on Hono"),
  beside(
    "first use of a process, Node 24, bundled",
    ["start-node24", "bundled", "hedgerow"],
    [
      ["xxhash-wasm", "`xxhash-wasm`"],
      ["es-module-lexer", "`es-module-lexer`"],
    ],
  ),
  beside(
    "the same as installed",
    ["start-node24", "as installed", "hedgerow"],
    [
      ["xxhash-wasm", "`xxhash-wasm`"],
      ["es-module-lexer", "`es-module-lexer`"],
    ],
  ),
];
