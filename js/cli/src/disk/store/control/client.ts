import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

import { CliError, type ErrorCode, messageOf, systemCode } from "../../../error.js";
import { untilSilent } from "./silent.js";
import { socketPaths } from "./socket-path.js";

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
  const { paths, refusal } = await socketPaths(place, name);
  const found = await postToFirst(paths, name, action, JSON.stringify(body)).catch((error) => {
    if (error instanceof CliError) throw error;
    const message = `the process that has attached ${name} did not answer: ${messageOf(error)}`;
    throw new CliError("ERR_SOURCE", message);
  });
  if (found === undefined && refusal !== undefined) throw refusal;
  if (found === undefined) {
    const message = `${name} is not attached by a process of this user on this host, or that process has another XDG_RUNTIME_DIR or a private /tmp: set XDG_RUNTIME_DIR to the same directory for both`;
    throw new CliError("ERR_SOURCE", message);
  }
  const { status, text } = found;
  const result = JSON.parse(text) as { error?: { code: ErrorCode; message: string } };
  if (status === 200) return result;
  const { code = "ERR_SOURCE", message = `unexpected status ${status}` } = result.error ?? {};
  throw new CliError(code, message);
}

/** Posts to the first socket at which a process listens. Returns undefined if there is none. */
async function postToFirst(sockets: readonly string[], name: string, action: string, body: string) {
  for (const socket of sockets) {
    const ending = new AbortController();
    const { signal } = ending;
    const silent = untilSilent(socket, name, signal).then(() => undefined);
    silent.catch(() => {});
    try {
      return await Promise.race([post(socket, `/${action}`, body, signal), silent]);
    } catch (error) {
      if (!["ENOENT", "ECONNREFUSED"].includes(systemCode(error) ?? "")) throw error;
    } finally {
      ending.abort();
    }
  }
  return undefined;
}

async function post(socketPath: string, path: string, body: string, signal: AbortSignal) {
  const headers = { "content-type": "application/json" };
  const sent = request({ socketPath, path, method: "POST", headers, agent: false, signal });
  // The caller may have given up.
  sent.on("error", () => {});
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_RESPONSE) throw new Error("expected a shorter response");
  }
  return { status: response.statusCode, text };
}
