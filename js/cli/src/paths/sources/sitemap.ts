import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";

import { SaxesParser, type SaxesTagPlain } from "saxes";

import { CliError, messageOf, systemCode } from "../../error.js";
import { decode } from "../../files/input.js";
import { originOf, pathOf } from "../keys.js";

/**
 * Yields the paths of all URLs in a sitemap, whatever their host, and of their alternates on that host.
 *
 * @param file XML; compressed if its name ends in `.gz`
 */
export async function* sitemap(file: string): AsyncGenerator<string> {
  const reader = new SitemapReader(file);
  try {
    for await (const text of decode(bytesOf(file), file)) yield* reader.read(text);
    yield* reader.end();
  } catch (error) {
    if (error instanceof CliError || systemCode(error) !== undefined) throw error;
    throw new CliError("ERR_SOURCE", `${file}: expected a sitemap: ${messageOf(error)}`);
  }
}

function bytesOf(file: string): AsyncIterable<Buffer> {
  const content = createReadStream(file);
  if (!file.endsWith(".gz")) return content;
  const unzipped = createGunzip();
  content.on("error", (error) => unzipped.destroy(error));
  return content.pipe(unzipped);
}

/** Finds the paths in XML chunk by chunk. Rejects XML that is not well-formed, as crawlers do. */
class SitemapReader {
  readonly #parser = new SaxesParser();
  #found: string[] = [];
  /** Namespace prefix of the sitemap elements: empty, or `prefix:`. */
  #prefix = "";
  #text = "";
  #url = "";
  #alternates: string[] = [];

  constructor(private readonly file: string) {
    let depth = 0;
    this.#parser.on("opentag", (tag) => {
      if (depth === 0) this.#openRoot(tag.name);
      depth += 1;
      this.#open(tag);
    });
    this.#parser.on("text", (text) => {
      this.#text += text;
    });
    this.#parser.on("cdata", (text) => {
      this.#text += text;
    });
    this.#parser.on("closetag", (tag) => {
      depth -= 1;
      this.#close(tag.name);
    });
  }

  read(text: string): string[] {
    this.#parser.write(text);
    return this.#take();
  }

  end(): string[] {
    this.#parser.close();
    return this.#take();
  }

  #take(): string[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  #openRoot(name: string): void {
    const [, prefix = "", local] = /^(.*:)?(.*)$/.exec(name) ?? [];
    if (local === "sitemapindex") {
      throw new CliError(
        "ERR_SOURCE",
        `${this.file}: expected a sitemap, found an index: give the sitemaps that it lists`,
      );
    }
    if (local !== "urlset") {
      throw new CliError("ERR_SOURCE", `${this.file}: expected <urlset>, found <${name}>`);
    }
    this.#prefix = prefix;
  }

  #open({ name, attributes }: SaxesTagPlain): void {
    this.#text = "";
    if (name === `${this.#prefix}url`) {
      this.#url = "";
      this.#alternates = [];
    }
    const { rel, href } = attributes;
    if (name.endsWith(":link") && rel === "alternate" && href !== undefined) {
      this.#alternates.push(trimmed(href));
    }
  }

  #close(name: string): void {
    if (name === `${this.#prefix}loc`) {
      this.#url = trimmed(this.#text);
    } else if (name === `${this.#prefix}url` && this.#url !== "") {
      const origin = originOf(this.#url);
      const here = this.#alternates.filter((url) => originOf(url) === origin);
      this.#found.push(pathOf(this.#url), ...here.map(pathOf));
    }
  }
}

/** Trims XML white space; any other white space is part of a URL. */
function trimmed(text: string): string {
  return text.replace(/^[\t\n\r ]+/, "").replace(/(?<![\t\n\r ])[\t\n\r ]+$/, "");
}
