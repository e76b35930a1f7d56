/** Real WebDAV servers, which ignore `If-None-Match`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

import { freePort } from "../../../../tests/support/http/listen.js";
import { startProgram } from "../../../../tests/support/processes/serve.js";

/** No test takes longer, in seconds. */
const MAX_SECONDS = 300;

export type DavProgram = "nginx" | "rclone";

/** Starts a server of a new folder, until the test is done. */
export async function startDav(program: DavProgram, folder: string): Promise<URL> {
  const files = join(folder, "files");
  mkdirSync(files, { recursive: true });
  const address = `127.0.0.1:${await freePort()}`;
  const command =
    program === "nginx"
      ? nginx(folder, files, address)
      : ["rclone", "--config", "", "serve", "webdav", files, "--addr", address];
  const { child, close } = startProgram(command, { maxSeconds: MAX_SECONDS });
  onTestFinished(close);
  child.stdout.resume();
  let printed = "";
  child.stderr.on("data", (text) => {
    printed += text;
  });
  const url = new URL(`http://${address}`);
  for (let wait = 0; wait < 500 && child.exitCode === null; wait += 1) {
    if ((await fetch(url).catch(() => undefined)) !== undefined) return url;
    await sleep(20);
  }
  throw new Error(`${program} does not start: ${printed}`);
}

function nginx(folder: string, files: string, address: string): readonly string[] {
  const [config, errors] = [join(folder, "nginx.conf"), join(folder, "errors")];
  const text = `
    daemon off;
    user root;
    worker_processes 1;
    pid ${join(folder, "pid")};
    events {}
    http {
      access_log off;
      client_body_temp_path ${join(folder, "body")};
      client_max_body_size 0;
      server {
        listen ${address};
        root ${files};
        location / { dav_methods PUT; }
      }
    }`;
  writeFileSync(config, text);
  return ["nginx", "-e", errors, "-c", config];
}
