import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

import { CliError, type ErrorCode, messageOf } from "../../../error.js";
import { socketPath } from "./socket-path.js";

/** The maximum length of a response, in characters. */
const MAX_RESPONSE = 65_536;

/**
 * Asks the process that has attached a disk on this host to save or detach it. Returns its result.
 *
 * @param place the store, as in a command line
 * @throws {CliError} `ERR_SOURCE` if there is no such process, and what the action throws
 */
export async function askAttached(
  place: string,
  name: string,
  action: "save" | "detach",
  body: object,
): Promise<unknown> {
  const socket = await socketPath(place, name);
  const { status, text } = await post(socket, `/${action}`, JSON.stringify(body)).catch((error) => {
    const isNone = ["ENOENT", "ECONNREFUSED"].includes(error.code);
    const message = isNone
      ? `${name} is not attached by a process of this user on this host`
      : `the process that has attached ${name} did not answer: ${messageOf(error)}`;
    throw new CliError("ERR_SOURCE", message);
  });
  const result = JSON.parse(text) as { error?: { code: ErrorCode; message: string } };
  if (status === 200) return result;
  const { code = "ERR_SOURCE", message = `unexpected status ${status}` } = result.error ?? {};
  throw new CliError(code, message);
}

async function post(socketPath: string, path: string, body: string) {
  const headers = { "content-type": "application/json" };
  const sent = request({ socketPath, path, method: "POST", headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_RESPONSE) throw new Error("expected a shorter response");
  }
  return { status: response.statusCode, text };
}
