/** All test cases of the interceptor. They run in this Node with undici 7, and in another with undici 8. */
import { apis } from "./cases/apis.js";
import { connection } from "./cases/connection.js";
import { fields } from "./cases/fields.js";
import { handlers } from "./cases/handlers.js";
import { messages } from "./cases/messages.js";
import { paths } from "./cases/paths.js";
import type { UndiciCases } from "./client.js";

export const undiciCases: UndiciCases = {
  ...apis,
  ...fields,
  ...connection,
  ...handlers,
  ...messages,
  ...paths,
};
