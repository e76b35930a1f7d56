/** An origin that parses its input strictly by RFC 9112 and logs each request, including smuggled ones. */
import { createServer, type Server, type Socket } from "node:net";

/** A request as the origin parsed it. */
export interface Logged {
  readonly line: string;
  /** Names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Internal-Node: a7\r\n\r\nok";

/** Creates the origin. Logs anything that is not a request with a line that begins with `malformed`. */
export function strictOrigin(log: Logged[]): Server {
  return createServer((socket) => {
    const reader = new Reader(socket, log);
    socket.on("data", (bytes) => reader.read(bytes.toString("latin1")));
    socket.on("error", () => socket.destroy());
  });
}

class Reader {
  #text = "";

  constructor(
    private readonly socket: Socket,
    private readonly log: Logged[],
  ) {}

  read(text: string): void {
    this.#text += text;
    for (let end = this.#text.indexOf("\r\n\r\n"); end >= 0; end = this.#text.indexOf("\r\n\r\n")) {
      const [line = "", ...lines] = this.#text.slice(0, end).split("\r\n");
      const fields = lines.map((each) => {
        const colon = each.indexOf(":");
        return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()] as const;
      });
      const message = this.#text.slice(end + 4);
      const framed = /^[A-Z]+ \S+ HTTP\/1\.1$/.test(line) ? bodyOf(fields, message) : "malformed";
      if (framed === "incomplete") return;
      if (framed === "malformed") {
        this.log.push({ line: `malformed: ${line}`, fields, body: message });
        this.socket.destroy();
        return;
      }
      this.log.push({ line, fields, body: framed.body });
      this.#text = message.slice(framed.length);
      this.socket.write(line.startsWith("HEAD ") ? ANSWER.slice(0, -2) : ANSWER);
    }
  }
}

type Body = { body: string; length: number } | "incomplete" | "malformed";

/** Returns the body at the start of a text, framed by the fields of its message (RFC 9112 §6.3). */
function bodyOf(fields: Logged["fields"], text: string): Body {
  const values = (wanted: string) => fields.filter(([name]) => name === wanted).map(([, v]) => v);
  const [lengths, encodings] = [values("content-length"), values("transfer-encoding")];
  if (lengths.length + encodings.length > 1 || values("host").length !== 1) return "malformed";
  if (encodings.length === 1) {
    return encodings[0] === "chunked" ? chunkedBodyOf(text) : "malformed";
  }
  if (!/^\d+$/.test(lengths[0] ?? "0")) return "malformed";
  const length = Number(lengths[0] ?? 0);
  return text.length < length ? "incomplete" : { body: text.slice(0, length), length };
}

function chunkedBodyOf(text: string): Body {
  let [body, at] = ["", 0];
  for (;;) {
    const end = text.indexOf("\r\n", at);
    if (end < 0) return "incomplete";
    const digits = text.slice(at, end);
    if (!/^[\da-f]+$/i.test(digits)) return "malformed";
    const size = Number.parseInt(digits, 16);
    const next = end + 2 + size + 2;
    if (text.length < next) return "incomplete";
    if (text.slice(next - 2, next) !== "\r\n") return "malformed";
    if (size === 0) return { body, length: next };
    body += text.slice(end + 2, next - 2);
    at = next;
  }
}
