/** The fenced blocks of a document, and how each is run: see `session.ts`. */
import { visit } from "unist-util-visit";

import { readMarkdown } from "./markdown.js";

/**
 * - `file`: written to the file that it names;
 * - `commands`: run in the shell of the document; `server`: the same, and the last command keeps running;
 * - `repository`: commands for contributors, or with a cluster, which are checked but not run;
 * - `module`: run in Node; `worker`: run in workerd;
 * - `output`: compared with the output of the block before it;
 * - `data`: parsed or compiled by the tools of its language;
 * - `rust`: a documentation test of the crate in `rust`, or of the crate whose README it is in;
 * - `drawing`: not checked.
 */
type Kind =
  | "file"
  | "commands"
  | "server"
  | "repository"
  | "module"
  | "worker"
  | "output"
  | "data"
  | "rust"
  | "drawing";

export interface Block {
  readonly kind: Kind;
  readonly language: string;
  readonly text: string;
  readonly line: number;
  /** The name of its file. */
  readonly name?: string | undefined;
}

const SHELL = new Set(["sh", "bash"]);
const CODE = new Set(["js", "jsx", "mjs", "ts", "tsx"]);

/** A first line that is a comment with nothing but a path. */
const NAMED = /^(?:\/\/|\/\*|#|--|<!--) ?([\w./[\]-]*\w)(?: ?\*\/| ?-->)?$/;
const HAS_ENDING = /\.\w+$/;

/** Commands for contributors, or with a cluster, in documents outside `docs/guides`. */
const REPOSITORY_COMMAND =
  /^(npm (test|install|ci|run \S+( -- .+)?|pack .+)|npx vitest .+|(cargo|git|docker|kubectl|python3 -m pip) .+|node_modules\/.+)$/;

/** Returns the blocks of a document in order. */
export function blocksOf(document: string): Block[] {
  const blocks: Block[] = [];
  visit(readMarkdown(document), "code", ({ lang, meta, value, position }) => {
    const language = lang ?? "";
    const name = fileName(value, meta ?? "");
    const kind = kindOf(document, language, meta ?? "", value, name);
    blocks.push({ kind, language, text: value, line: position?.start.line ?? 0, name });
  });
  return blocks;
}

function fileName(text: string, meta: string): string | undefined {
  if (meta !== "output" && meta !== "") return meta;
  const [first = ""] = text.split("\n", 1);
  const name = NAMED.exec(first)?.[1];
  return name !== undefined && HAS_ENDING.test(name) ? name : undefined;
}

function kindOf(
  document: string,
  language: string,
  meta: string,
  text: string,
  name: string | undefined,
): Kind {
  if (meta === "output") return "output";
  if (name !== undefined) return "file";
  if (language === "rust") return "rust";
  if (language === "text") return "drawing";
  if (CODE.has(language)) return isWorker(text) ? "worker" : "module";
  if (!SHELL.has(language)) return "data";
  const isGuide = document.startsWith("docs/guides/");
  if (!isGuide && commandsOf(text).every((command) => REPOSITORY_COMMAND.test(command))) {
    return "repository";
  }
  return text.trimEnd().endsWith(" &") ? "server" : "commands";
}

/** Returns whether code imports modules that only workers use. */
const isWorker = (text: string) =>
  /from "(hedgerow\/workers|cloudflare:\w+|[^"]+\.wasm)"/.test(text);

/** Splits a script into commands, without comments. */
export const commandsOf = (text: string): string[] =>
  text
    .split(/\n|&&/)
    .map((command) => command.replace(/(^|\s)#.*$/, "").trim())
    .filter((command) => command !== "");
