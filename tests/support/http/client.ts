/** A client that sends fields unchanged: in order, in their case, with duplicates. */
import { type Agent, request } from "node:http";
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
