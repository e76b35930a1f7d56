/** The socket by which `disk save` and `disk detach` reach the process that has attached a disk. */
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

import { attach, controlSocket, failure, json, withDisk } from "../support/disk-store.js";

test.for(["open to others", "a link", "a file"])(
  "refuses a directory of control sockets that is %s",
  async (kind) => {
    const { root, store, args, env } = await withDisk();
    const directory = join(root, "run/hedgerow");
    if (kind === "open to others") mkdirSync(directory);
    if (kind === "open to others") chmodSync(directory, 0o750);
    if (kind === "a link") symlinkSync(root, directory);
    if (kind === "a file") symlinkSync(join(root, "disk.img"), directory);
    for (const command of [
      ["attach", ...args],
      ["save", store, "alice"],
      ["detach", store, "alice"],
    ]) {
      const found = await failure(command, env);
      expect(found).toMatchObject({ exit: 3, code: "ERR_OUTPUT" });
      expect(found.message).toBe(
        `${directory}: expected a directory that only this user owns and may use`,
      );
    }
    expect((await json(["stat", store, "alice"])).attached).toBeUndefined();
  },
);

test("listens in a private directory of /tmp if XDG_RUNTIME_DIR is not set", async () => {
  const { args, env } = await withDisk();
  const elsewhere = await attach(args, env);
  const name = basename(controlSocket(env));
  await elsewhere.stop("SIGTERM");
  const directory = `/tmp/hedgerow-${process.getuid?.()}`;
  const { stop } = await attach(args, { ...env, XDG_RUNTIME_DIR: "" });
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  // Other processes may listen there, too.
  expect(readdirSync(directory)).toContain(name);
  await stop("SIGTERM");
  expect(readdirSync(directory)).not.toContain(name);
});

/** Sends a request to a control socket. */
async function ask(socketPath: string, method: string, path: string, body: string) {
  const sent = request({ socketPath, path, method, agent: false });
  // The server may close the connection before it has read everything.
  sent.on("error", () => {});
  sent.end(body);
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, ...JSON.parse(text).error };
}

test("answers two requests on its control socket, and no others", async () => {
  const { store, args, env } = await withDisk();
  const { stop } = await attach(args, env);
  const socket = controlSocket(env);
  const unknown = { status: 404, code: "ERR_USAGE" };
  expect(await ask(socket, "GET", "/save", "")).toMatchObject(unknown);
  expect(await ask(socket, "POST", "/", "{}")).toMatchObject(unknown);
  expect(await ask(socket, "POST", "/save?x", "{}")).toMatchObject(unknown);
  expect(await ask(socket, "POST", "/constructor", "{}")).toMatchObject(unknown);
  for (const body of ["", "null", "[", '"x"', `{"label":"${"x".repeat(20_000)}"}`])
    expect(await ask(socket, "POST", "/save", body)).toMatchObject({ status: 400 });
  const wrong = await ask(socket, "POST", "/save", '{"label":7}');
  expect(wrong).toMatchObject({ status: 500, code: "ERR_ARGUMENT" });
  // A client that sends nothing does not keep the process.
  const idle = connect(socket);
  await once(idle, "connect");
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
  idle.destroy();
  expect(await json(["stat", store, "alice"])).toMatchObject({ generations: 1 });
});
