/** Runs a document from its first block to its last. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { transform } from "esbuild";
import { expect } from "vitest";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { type Block, commandsOf } from "./blocks.js";
import { environmentFor } from "./environment.js";
import { expectKnown } from "./known-commands.js";
import { expectDocumentationTest, expectReadable } from "./languages.js";
import {
  makeScratch,
  portsFor,
  prepareFolder,
  type Replacements,
  withReplacements,
} from "./prepare-folder.js";
import { needsStore, startRegistry, startStore } from "./services.js";
import { Shell } from "./shell.js";
import { expectTypes } from "./types.js";
import { expectWorker } from "./worker.js";

/** Called in reverse order. */
type Closers = (() => Promise<void> | void)[];

export class Session {
  /** The output of the last block. */
  #printed: string | undefined;
  /** Code files that the document wrote. */
  readonly #code = new Set<string>();
  #hasFailed = false;

  private constructor(
    readonly document: string,
    private readonly folder: string,
    private readonly names: Replacements,
    private readonly shell: Shell,
    private readonly closers: Closers,
  ) {}

  static async start(document: string): Promise<Session> {
    const closers: Closers = [];
    try {
      return await Session.#begin(document, closers);
    } catch (error) {
      await closeAll(closers);
      throw error;
    }
  }

  static async #begin(document: string, closers: Closers): Promise<Session> {
    const text = readFileSync(inRoot(document), "utf8");
    const isGuide = document.startsWith("docs/guides/");
    const ports = await portsFor(text);
    const { folder, home, remove } = makeScratch(isGuide);
    closers.push(remove);
    if (!isGuide) prepareFolder(folder, document, text, ports);
    const registry = await startRegistry();
    closers.push(() => registry.close());
    const store = needsStore(text) ? await startStore(text) : undefined;
    closers.push(() => store?.close());
    // The default port of Next.js.
    const PORT = ports.get("3000");
    const env = { ...environmentFor(text, home, registry.url), ...store?.env };
    const shell = new Shell(folder, { ...env, ...(PORT && { PORT }) });
    closers.push(() => shell.close());
    const cache = ["/var/cache/images", join(home, "images")] as const;
    const names = new Map([...ports, ...(store?.names ?? []), cache]);
    return new Session(document, folder, names, shell, closers);
  }

  /** Runs a block. After a block has failed, every later one fails too. */
  async run(block: Block): Promise<void> {
    if (this.#hasFailed) throw new Error("an earlier block failed");
    try {
      await this.#run({ ...block, text: withReplacements(block.text, this.names) });
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  /** Asserts that all code of the document type-checks. */
  async expectTypes(): Promise<void> {
    await expectTypes(this.folder, [...this.#code]);
  }

  close(): Promise<void> {
    return closeAll(this.closers);
  }

  async #run(block: Block): Promise<void> {
    const { kind, language, text } = block;
    const before = this.#printed;
    this.#printed = undefined;
    if (kind === "output") expectPrinted(before, text);
    else if (kind === "file") this.#write(block.name ?? "", text);
    else if (kind === "commands") this.#printed = await this.shell.run(text);
    else if (kind === "server") await this.shell.serve(text);
    else if (kind === "module") this.#printed = await this.#runModule(block);
    else if (kind === "worker") await this.#runWorker(block);
    else if (kind === "repository") for (const command of commandsOf(text)) expectKnown(command);
    else if (kind === "rust") expectDocumentationTest(this.document);
    else if (kind === "data") expectReadable(language, text);
  }

  /** Writes a file, relative to the shell's folder. */
  #write(name: string, text: string): void {
    const path = join(this.shell.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${text}\n`);
    if (/\.[cm]?[jt]sx?$/.test(name)) this.#code.add(relative(this.folder, path));
  }

  /** Runs code in Node in the shell's folder, and returns its output. */
  async #runModule({ language, text, line }: Block): Promise<string> {
    if (!/^[jt]s$/.test(language))
      throw new Error(`expected a file name for a block of ${language}`);
    const name = `.line-${line}`;
    this.#write(language === "ts" ? `${name}.ts` : `${name}.mjs`, text);
    if (language === "ts") {
      const { code } = await transform(text, { loader: "ts", format: "esm", target: "node20" });
      writeFileSync(join(this.shell.folder, `${name}.mjs`), code);
    }
    return this.shell.run(`node ${name}.mjs`);
  }

  async #runWorker({ language, text, line }: Block): Promise<void> {
    const name = `.line-${line}.${language}`;
    this.#write(name, text);
    await expectWorker(this.shell.folder, name, text);
  }
}

async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.reverse()) await close();
}

/** Removes trailing white space. */
const visible = (text: string) => text.replace(/[ \t\r]+$/gm, "").trimEnd();

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Asserts that output matches a block; `…` in the block matches any text. */
export function expectPrinted(printed: string | undefined, text: string): void {
  if (printed === undefined) throw new Error("expected a block before this one that prints");
  const pattern = visible(text).split("\u2026").map(escaped).join("[^]*");
  if (!new RegExp(`^${pattern}$`).test(visible(printed))) expect(visible(printed)).toBe(text);
}
