/** An origin that responds as exchanges specify and records requests, for Node and for Fetch. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { contentOf, digestOf, piecesOf } from "./content.js";
import type { Content, Exchange, Field, Message } from "./exchange.js";
import { groupsOf, pairsOf } from "./fields.js";

type Answer = Exchange["answer"];

/** Returns the fields of a response, including its `Connection`. */
export function answerFields({ fields, nominated }: Answer): Field[] {
  if (nominated.length === 0) return [...fields];
  return [["Connection", ["keep-alive", ...nominated].join(", ")], ...fields];
}

export class Origin {
  #count = 0;
  readonly #awaited = new Map<string, { exchange: Exchange; arrived?: Message }>();

  /** Expects an exchange. Returns the prefix for its path. */
  awaits(exchange: Exchange): string {
    const number = `${this.#count++}`;
    this.#awaited.set(number, { exchange });
    return `/n${number}`;
  }

  /** Returns the request whose path began with `prefix`, if it arrived. */
  taken(prefix: string): Message | undefined {
    const number = prefix.slice(2);
    const { arrived } = this.#awaited.get(number)!;
    this.#awaited.delete(number);
    return arrived;
  }

  /** Returns the request whose path began with `prefix`. */
  arrived(prefix: string): Message {
    const arrived = this.taken(prefix);
    if (arrived === undefined) throw new Error("the request did not arrive");
    return arrived;
  }

  /** Responds to a request of Node's servers. */
  readonly listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url, rawHeaders } = request;
    const start = `${method} ${url}`;
    const fields = pairsOf([...rawHeaders]);
    const { answer } = await this.#record({ start, fields }, request);
    setFields(response, answer);
    if (answer.content?.chunked) {
      for (const piece of piecesOf(answer.content)) response.write(piece);
    }
    response.end(answer.content?.chunked ? undefined : contentOf(answer.content));
  };

  /** Responds to a Fetch request. */
  readonly respond = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const start = `${request.method} ${pathname}${search}`;
    const { answer } = await this.#record({ start, fields: [...request.headers] }, request.body);
    const { status, content } = answer;
    const body = content === null ? null : content.chunked ? streamOf(content) : contentOf(content);
    return new Response(body as BodyInit | null, {
      status,
      headers: answerFields(answer) as [string, string][],
    });
  };

  async #record(
    head: Omit<Message, "digest">,
    body: AsyncIterable<Uint8Array> | null,
  ): Promise<Exchange> {
    const [, number = ""] = /\/n(\d+)/.exec(head.start) ?? [];
    const awaited = this.#awaited.get(number);
    if (awaited === undefined) throw new Error(`unexpected request: ${head.start}`);
    // Exclude the mount point from the path.
    const start = head.start.replace(/ .*(?=\/n\d)/, " ");
    awaited.arrived = { ...head, start, digest: await digestOf(body) };
    return awaited.exchange;
  }
}

/** Sets the fields of a response in the way that it specifies. */
function setFields(response: ServerResponse, answer: Answer): void {
  const { status, content, setting } = answer;
  const fields = answerFields(answer);
  if (content?.chunked === false) fields.push(["Content-Length", `${content.length}`]);
  if (setting === "list") response.writeHead(status, fields.flat());
  // Pairs are missing from Node's types.
  else if (setting === "pairs") response.writeHead(status, fields as unknown as string[]);
  else if (setting === "object") response.writeHead(status, groupsOf(fields));
  else {
    response.statusCode = status;
    for (const [name, value] of fields) response.appendHeader(name, value);
  }
}

function streamOf(content: Content): ReadableStream {
  const pieces = piecesOf(content);
  return new ReadableStream({
    pull(controller) {
      const { done, value } = pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
