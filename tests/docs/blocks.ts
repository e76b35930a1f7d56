/** The fenced blocks of a document, and what is to be done with each: see `run.ts`. */
import { visit } from "unist-util-visit";

import { readMarkdown } from "./markdown.js";

/**
 * - `file`: is written to the file that it names;
 * - `commands`: are run by the shell of the document; `server`: the same, and the last of them stays;
 * - `repository`: commands for who works on this repository, which are checked and not run;
 * - `module`: is run as a module; `worker`: is the module of a worker;
 * - `output`: is what the block before it prints;
 * - `data`: is read by the parser or compiler of its language;
 * - `rust`: is a documentation test of the crate in `rust`, or of the crate whose README it is in;
 * - `drawing`: is for people.
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
  /** Of the file that it is. */
  readonly name?: string | undefined;
}

const SHELL = new Set(["sh", "bash"]);
const CODE = new Set(["js", "jsx", "mjs", "ts", "tsx"]);

/** A path that is all of the first line but for the signs of a comment. */
const NAMED = /^(?:\/\/|\/\*|#|--|<!--) ?([\w./[\]-]*\w)(?: ?\*\/| ?-->)?$/;
const HAS_ENDING = /\.\w+$/;

/** A command for who works on this repository: in documents outside of `docs/guides`. */
const REPOSITORY_COMMAND =
  /^(npm (test|install|ci|run \S+( -- .+)?|pack .+)|npx vitest .+|cargo .+|git .+|node_modules\/.+)$/;

/** The blocks of a document, in order. */
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

/** Only workers have these. */
const isWorker = (text: string) =>
  /from "(hedgerow\/workers|cloudflare:\w+|[^"]+\.wasm)"/.test(text);

/** Single commands, without comments. */
export const commandsOf = (text: string): string[] =>
  text
    .split(/\n|&&/)
    .map((command) => command.replace(/(^|\s)#.*$/, "").trim())
    .filter((command) => command !== "");
