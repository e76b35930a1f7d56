/** Sends requests and returns complete responses. */
import { once } from "node:events";
import { type Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";

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
