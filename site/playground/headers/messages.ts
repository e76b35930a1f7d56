/** Reads HTTP/1.1 messages as people copy them: raw, or from the output of `curl -v`. */

/** A message without its body. */
export interface Message {
  readonly direction: "requests" | "responses";
  /** The field lines, without their line ends. */
  readonly lines: readonly string[];
}

/** The escape for a bare carriage return, which text fields of browsers turn into a line feed. */
const CARRIAGE_RETURN = "\\r";

const STATUS_LINE = /^HTTP\/\d/;
const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/\d/;

/** Returns the messages in a text. Text that follows an empty line and does not begin with a message is a body. */
export function parseMessages(text: string): Message[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const marked = lines.filter((line) => /^[<>] ?/.test(line));
  const isCurl = marked.some((line) => /^> [A-Z]+ \S+ HTTP|^< HTTP/.test(line));
  const messages: { direction: Message["direction"]; lines: string[] }[] = [];
  let current: (typeof messages)[number] | undefined;
  for (const line of isCurl ? marked.map((line) => line.replace(/^[<>] ?/, "")) : lines) {
    const isStart = STATUS_LINE.test(line) || REQUEST_LINE.test(line);
    const isFirst = messages.length === 0 && line !== "";
    if (isStart || isFirst) {
      const direction = STATUS_LINE.test(line) ? "responses" : "requests";
      current = { direction, lines: isStart ? [] : [line] };
      messages.push(current);
    } else if (line === "") {
      current = undefined;
    } else {
      current?.lines.push(line);
    }
  }
  return messages;
}

/** Returns the field block of a message, as it is sent. */
export function blockOf({ lines }: Message): Uint8Array {
  const text = [...lines, "", ""].join("\r\n").replaceAll(CARRIAGE_RETURN, "\r");
  return new TextEncoder().encode(text);
}

/** Returns the fields of a block that the library accepts, as Node's `rawHeaders` has them. */
export function rawHeadersOf({ lines }: Message): string[] {
  const unfolded: string[] = [];
  for (const line of lines) {
    if (/^[ \t]/.test(line)) unfolded[unfolded.length - 1] += ` ${line.trim()}`;
    else unfolded.push(line);
  }
  return unfolded.flatMap((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
}
