import type { Transfer } from "../../options/transfer-options.js";
import type { ServerRequest } from "../server-request.js";
import { get } from "./get.js";

/** Returns the `Date` of a server, as it answers a request, or undefined if it does not answer. @throws the signal's reason */
export async function fetchDate(
  request: ServerRequest,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const headers = { range: "bytes=0-0" };
    return await get(
      request,
      headers,
      transfer,
      signal,
      async ({ response }) => response.headers.date,
    );
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}
