/** Strips requests and responses of the Fetch standard, of which many let nobody change their fields. */
import type { HeaderStripper } from "../headers/header-stripper.js";

/** A request without the fields that the rules match: `request` itself if it lets itself be changed. */
export function strippedRequest<Message extends Request>(
  stripper: HeaderStripper,
  request: Message,
  copy: (request: Message) => Message,
): Message {
  return stripped(stripper, request, copy);
}

/** A response without the fields that the rules match: `response` itself if that can be changed. */
export function strippedResponse(stripper: HeaderStripper, response: Response): Response {
  return stripped(stripper, response, ({ body }) => new Response(body, response));
}

function stripped<Message extends Request | Response>(
  stripper: HeaderStripper,
  message: Message,
  copy: (message: Message) => Message,
): Message {
  try {
    stripper.strip(message.headers);
    return message;
  } catch (error) {
    // The first name could not be removed, so that all of them are still there.
    if (!(error instanceof Error) || error.name !== "TypeError") throw error;
  }
  const own = copy(message);
  stripper.strip(own.headers);
  return own;
}
