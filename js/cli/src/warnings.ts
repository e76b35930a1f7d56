import { oneLine } from "./one-line.js";

/**
 * Tells of warnings on standard error in one line each, like all else, and not where programs read it.
 * Node's own way takes two lines, the second about a flag that is not for users of a command.
 */
export function tellWarnings(json: boolean): void {
  // Which Node the AWS SDK will want some day: no matter of what is done now.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  process.removeAllListeners("warning");
  process.on("warning", ({ message }) => {
    if (!json) console.error(`hedgerow: ${oneLine(message)}`);
  });
}
