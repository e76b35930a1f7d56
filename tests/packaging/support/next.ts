/** Apps of Next.js, built and started. */
import { KEEP_ALIVE } from "../../support/http/listen.js";
import type { Fault } from "./project.js";
import { project } from "./project.js";
import { run, serve, tool } from "./tool.js";

/**
 * Builds an app, and starts it until the test is done. Returns its URL.
 *
 * @param args of `next build`
 * @param prepare what is done to its folder before
 * @param fault what is wrong with the package that it finds
 */
export async function startedApp(
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
