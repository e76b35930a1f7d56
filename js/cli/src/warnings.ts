import { jsonOf, oneLine } from "./one-line.js";

/**
 * Prints each process warning on standard error in one line, with `--json` as an object. Node's default
 * prints a second line about `--trace-warnings`, which is of no use to users of the command.
 */
export function printWarnings(json: boolean): void {
  // The AWS SDK would warn about Node versions that it will drop later.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    const message = oneLine(warning.message);
    process.stderr.write(json ? jsonOf({ warning: { message } }) : `hedgerow: ${message}\n`);
  });
}
