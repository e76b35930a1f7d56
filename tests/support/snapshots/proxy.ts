/** A server between a client and another server, which spoils what goes through it. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What becomes of a request; if nothing is said, it is passed on, and so is its answer. */
export interface Spoilt {
  /** The request is answered with this, and not passed on. */
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The request is passed on, and its answer is lost with the connection. */
  readonly loseAnswer?: boolean;
  /** The answer waits for this. */
  readonly delay?: Promise<unknown>;
}

export type Spoil = (request: IncomingMessage) => Spoilt | undefined;

export interface Proxy extends AsyncDisposable {
  readonly endpoint: URL;
  /** What was asked, as methods and paths. */
  readonly requests: string[];
}

/** Starts a proxy before a server. */
export async function startProxy(target: URL, spoil: Spoil): Promise<Proxy> {
  const requests: string[] = [];
  const server = createServer(async (asked, answer) => {
    requests.push(`${asked.method} ${asked.url}`);
    const spoilt = spoil(asked) ?? {};
    if (spoilt.status === undefined) return pass(target, asked, answer, spoilt);
    asked.resume();
    await once(asked, "end");
    answer.writeHead(spoilt.status, spoilt.headers).end(spoilt.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: new URL(`http://127.0.0.1:${port}`),
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Passes a request on. Its headers stay as they are, the host included: it is signed. */
function pass(target: URL, asked: IncomingMessage, answer: ServerResponse, spoilt: Spoilt): void {
  const { method, url, headers } = asked;
  const { hostname, port } = target;
  const passed = request({ hostname, port, method, path: url, headers, agent: false });
  passed.on("error", () => answer.destroy());
  answer.on("close", () => passed.destroy());
  passed.on("response", async (found) => {
    await spoilt.delay;
    if (spoilt.loseAnswer) {
      found.resume();
      await once(found, "end");
      answer.destroy();
      return;
    }
    answer.writeHead(found.statusCode ?? 0, found.headers);
    found.pipe(answer);
  });
  asked.pipe(passed);
}
