/** The shell that runs documents fails on every error. */
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, onTestFinished, test } from "vitest";

import { expectPrinted } from "./session.js";
import { Shell } from "./shell.js";

function startShell(): Shell {
  const shell = new Shell(realpathSync(tmpdir()), { PATH: process.env.PATH });
  onTestFinished(() => shell.close());
  return shell;
}

/** Prints its URL, and answers. */
const SERVER = `node -e '
  const server = require("http").createServer((_, response) => response.writeHead(204).end());
  server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));
' &`;

test("keeps the folder and variables between blocks", async () => {
  const shell = startShell();
  await shell.run("cd /\nname=hedge");
  expect(shell.folder).toBe("/");
  expect(await shell.run('echo "$name" && pwd')).toBe("hedge\n/\n");
});

test("fails with the output when a command fails, and fails every later block", async () => {
  const shell = startShell();
  await expect(shell.run("echo before\nfalse\necho after")).rejects.toThrow(/before\n$/);
  await expect(shell.run("true")).rejects.toThrow("a command failed");
  await expect(startShell().run("false | cat")).rejects.toThrow("a command failed");
  await expect(startShell().run(`echo "$unknown"`)).rejects.toThrow("unbound variable");
});

test("waits for a server to listen, and ends it with the shell", async () => {
  const shell = startShell();
  const url = await shell.serve(SERVER);
  const answers = () =>
    fetch(url).then(
      ({ status }) => status,
      () => undefined,
    );
  expect(await answers()).toBe(204);
  await shell.close();
  await expect.poll(answers, { timeout: 20_000 }).toBeUndefined();
});

test("fails with the output when a server does not listen", async () => {
  const shell = startShell();
  await shell.serve(SERVER);
  await expect(shell.serve("echo http://127.0.0.1:1 && false &")).rejects.toThrow("127.0.0.1:1");
});

test("compares output with a block, in which an ellipsis matches anything", () => {
  expectPrinted("one\ntwo  \n\n", "one\ntwo");
  expectPrinted("took 7 ms (fast)\n", "took \u2026 ms (fast)");
  expect(() => expectPrinted("one\ntwo\n", "one")).toThrow();
  expect(() => expectPrinted("took 7 s", "took \u2026 ms")).toThrow();
  expect(() => expectPrinted(undefined, "one")).toThrow("before");
});
