/** Next.js apps, built and started. */
import { KEEP_ALIVE } from "../../support/http/listen.js";
import type { Fault } from "./project.js";
import { project } from "./project.js";
import { run, serve, tool } from "./tool.js";

/**
 * Builds an app and runs it until the test is done. Returns its URL.
 *
 * @param args arguments of `next build`
 * @param prepare changes the folder before the build
 * @param fault injected into the package that the app uses
 */
export async function startApp(
  name: string,
  args: string[],
  prepare: (folder: string) => void = () => {},
  fault?: Fault,
): Promise<URL> {
  const folder = project(name, fault);
  prepare(folder);
  await run(folder, tool("next"), "build", ...args);
  const place = ["--hostname", "127.0.0.1", "--port", "0", "--keepAliveTimeout", `${KEEP_ALIVE}`];
  return serve(folder, tool("next"), "start", ...place);
}
