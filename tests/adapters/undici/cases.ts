/** All test cases of the interceptor. They run in this Node with undici 7, and in another with undici 8. */
import { apis, handlers, paths } from "./cases/handlers.js";
import { connection, fields, messages } from "./cases/messages.js";
import type { UndiciCases } from "./client.js";

export const undiciCases: UndiciCases = {
  ...apis,
  ...fields,
  ...connection,
  ...handlers,
  ...messages,
  ...paths,
};
