/** Clients that send requests and fields unchanged: in order, in their case, with duplicates. */
import { once } from "node:events";
import { type Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { contentOf, digestOf, piecesOf } from "./content.js";
import type { Exchange, Field, Message } from "./exchange.js";
import { pairsOf } from "./fields.js";

/** The host that requests name. Connections are made to the servers' addresses instead. */
const HOST = "hedgerow.example";

/** Returns all fields of a request in the order in which they are sent. */
export function sentFields({ fields, nominated, content, method }: Exchange): Field[] {
  const connection: Field = ["Connection", ["keep-alive", ...nominated].join(", ")];
  return [["Host", HOST], ...fields, connection, ...framing(method, content)];
}

function framing(method: string, content: Exchange["content"]): Field[] {
  if (content?.chunked) return [["Transfer-Encoding", "chunked"]];
  if (content === null && (method === "GET" || method === "HEAD")) return [];
  return [["Content-Length", `${content?.length ?? 0}`]];
}

/** Sends the request of an exchange to the host of `url` and to `path`. Returns the response. */
export function send(exchange: Exchange, url: URL, path: string, agent: Agent): Promise<Message> {
  const { method, content } = exchange;
  const { hostname, port } = url;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...{ agent, method, hostname, port, path },
      headers: sentFields(exchange).flat(),
    });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      const { statusCode, rawHeaders } = response;
      const head = { start: `${statusCode}`, fields: pairsOf(rawHeaders) };
      digestOf(response).then((digest) => resolve({ ...head, digest }), reject);
    });
    if (content?.chunked) {
      for (const piece of piecesOf(content)) outgoing.write(piece);
    }
    outgoing.end(content?.chunked ? undefined : contentOf(content));
  });
}

export interface RequestOptions {
  method?: string;
  path?: string;
  /** A flat list of names and values, sent unchanged. */
  headers?: readonly string[];
  body?: Uint8Array | string;
  agent?: Agent;
}

export interface Reply {
  status: number;
  headers: IncomingMessage["headers"];
  rawHeaders: string[];
  trailers: IncomingMessage["trailers"];
  body: Buffer;
}

/** Sends a request and reads the whole response. */
export async function ask(url: URL, options: RequestOptions = {}): Promise<Reply> {
  const { method = "GET", path = "/", headers = [], body, agent } = options;
  const outgoing = request({
    ...{ hostname: url.hostname, port: url.port, method, path },
    headers: ["Host", url.host, ...headers],
    ...(agent && { agent }),
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const content = await buffer(response);
  const { statusCode, rawHeaders, trailers } = response;
  return { status: statusCode!, headers: response.headers, rawHeaders, trailers, body: content };
}

/** Writes bytes to a server and reads until it closes, one character per byte. */
export async function sendRaw(url: URL, text: string): Promise<string> {
  const socket = connect(Number(url.port), url.hostname);
  socket.write(text, "latin1");
  return (await buffer(socket)).toString("latin1");
}
