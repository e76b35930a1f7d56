import { wrongType } from "../error.js";
import { type HeaderStripper, rulesOf } from "../headers/header-stripper.js";
import { BlockRules } from "./block-rules.js";

/**
 * Strips a block of HTTP/1.1 field lines in place, by the rules of a stripper. Each line ends in CR LF; the
 * empty line that closes the block is optional. A line that begins with white space continues the line before
 * it.
 *
 * The first call for a stripper compiles its rules in `block.wasm`, whose memory `free()` of the stripper
 * releases, too.
 *
 * @returns a view of the stripped block, at the start of `block`; the bytes after it are undefined
 * @throws {HedgerowError} `ERR_FIELD_BLOCK` if the block has a bare CR or LF, a NUL, a line without a colon
 * or with white space before it, or a name that is not a token; does not end in CR LF; exceeds 16 MiB;
 * frames the body twice (`Content-Length` and `Transfer-Encoding`, or two lengths); or has a `Connection`
 * that nominates a field meant for all recipients, or more than 1,024 fields that no rule matches. The
 * block is then unchanged; reject the message and close the connection. `ERR_FREED` if the stripper was
 * freed; `ERR_ARGUMENT` if an argument has the wrong type
 *
 * @example
 * ```ts
 * import { HeaderStripper } from "hedgerow";
 * import { stripBlock } from "hedgerow/block";
 *
 * const stripper = new HeaderStripper(["x-internal-*"]);
 * const block = new TextEncoder().encode("Accept: *\/*\r\nX-Internal-User: 7\r\n\r\n");
 * new TextDecoder().decode(stripBlock(stripper, block)); // "Accept: *\/*\r\n\r\n"
 * ```
 */
export function stripBlock(stripper: HeaderStripper, block: Uint8Array): Uint8Array {
  const rules = rulesOf(stripper);
  if (rules === undefined) throw wrongType("a HeaderStripper", stripper);
  if (!(block instanceof Uint8Array)) throw wrongType("a Uint8Array", block);
  // Reading it may run code that frees the rules.
  const { length } = block;
  rules.live().block ??= new BlockRules(rules);
  return (rules.block as BlockRules).strip(block, length);
}
