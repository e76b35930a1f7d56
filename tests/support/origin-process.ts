/** An origin in its own process, which runs while the event loop of a test is blocked. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../origin/serve.mjs", import.meta.url));

/** A running origin. */
export interface OriginProcess {
  readonly url: URL;
  /** Returns how many requests it has received. */
  requestCount(): Promise<number>;
  close(): Promise<void>;
}

/** Starts an origin, which ends with this process. @param options those of `serve.mjs` */
export async function startOriginProcess(options: readonly string[]): Promise<OriginProcess> {
  const child = spawn(process.execPath, [SCRIPT, ...options], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = new URL((JSON.parse(line.toString()) as { url: string }).url);
  return {
    url,
    async requestCount() {
      const response = await fetch(new URL("/-/stats", url));
      return ((await response.json()) as { requestCount: number }).requestCount;
    },
    async close() {
      child.stdin.end();
      await exit;
    },
  };
}
