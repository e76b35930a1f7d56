/** A real proxy, tinyproxy, that runs for a test. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "./http/listen.js";
import { startProgram } from "./processes/serve.js";

/** No test takes longer, in seconds. */
const MAX_SECONDS = 300;

export interface TinyproxyOptions {
  /** The user and password that it requires. */
  readonly user?: readonly [name: string, password: string];
  /** Hosts that it refuses, as a regular expression. */
  readonly refused?: string;
}

export interface Tinyproxy {
  readonly url: URL;
  /** Returns the request lines that it has received. */
  requests(): string[];
  close(): Promise<void>;
}

/** Starts a proxy, which ends with this process. */
export async function startTinyproxy({ user, refused }: TinyproxyOptions = {}): Promise<Tinyproxy> {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-tinyproxy-"));
  const [config, log, filter] = [join(folder, "conf"), join(folder, "log"), join(folder, "filter")];
  const port = await freePort();
  writeFileSync(filter, `${refused ?? ""}\n`);
  writeFileSync(log, "");
  const lines = [
    ...[`Port ${port}`, "Listen 127.0.0.1", "Allow 127.0.0.1", "Timeout 60", "MaxClients 200"],
    ...["LogLevel Connect", `LogFile "${log}"`, `PidFile "${join(folder, "pid")}"`],
    ...(user === undefined ? [] : [`BasicAuth ${user.join(" ")}`]),
    ...(refused === undefined ? [] : [`Filter "${filter}"`, "FilterExtended On"]),
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const command = ["tinyproxy", "-d", "-c", config];
  const { child, close } = startProgram(command, { maxSeconds: MAX_SECONDS });
  child.stdout.resume();
  child.stderr.pipe(process.stderr);
  await untilListening(port);
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    requests: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .flatMap((line) => /Request \(file descriptor \d+\): (.*)$/.exec(line)?.[1] ?? []),
    async close() {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits up to ten seconds until a port takes connections. */
async function untilListening(port: number): Promise<void> {
  for (let wait = 0; wait < 500; wait += 1) {
    const socket = connect(port, "127.0.0.1");
    const isListening = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isListening) return;
    await sleep(20);
  }
  throw new Error("tinyproxy does not start");
}
