/**
 * Programs that read fields as variables receive no field that a rule matches, however a client spells it, behind any
 * proxy.
 */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pythonEnv } from "../../../scripts/lib/python.mjs";
import { type Running, startServer } from "../../support/processes/serve.js";
import { PROXIES } from "./proxies.js";

const FOLDER = fileURLToPath(new URL("../../tools/variables/", import.meta.url));

const RULES = ["x-internal-user", "x-trace-*"];

/** The variables of the names that the rules match. */
const FORGED = ["HTTP_X_INTERNAL_USER", "HTTP_X_TRACE_ID"];

/** Programs, and the characters that each takes for one. */
const PROGRAMS = {
  wsgiref: { command: "python3 wsgi.py", marks: "-_" },
  Gunicorn: {
    command: "python3 -m gunicorn wsgi:application --header-map dangerous --bind 127.0.0.1:0",
    marks: "-_",
  },
  PHP: { command: "php -S 127.0.0.1:0 index.php", marks: "-_." },
};

/** Returns every spelling of a name with these characters for its hyphens. */
function spellings(name: string, marks: string): string[] {
  const [first = "", ...rest] = name.split("-");
  return rest.reduce(
    (begun, part) => begun.flatMap((text) => [...marks].map((mark) => text + mark + part)),
    [first],
  );
}

/** Sends a request with these fields, and returns the variables of the program that answers. */
async function variablesOf(url: URL, names: readonly string[]): Promise<Record<string, string>> {
  const fields = ["Host", url.host, "X-Kept_Id", "kept", ...names.flatMap((name) => [name, "f"])];
  const outgoing = request(url, { headers: fields, agent: false });
  const variables = await new Promise<string>((resolve, reject) => {
    outgoing.on("response", (response) => text(response).then(resolve, reject));
    outgoing.on("error", reject).end();
  });
  return JSON.parse(variables);
}

describe.for(Object.entries(PROGRAMS))("%s", ([, { command, marks }]) => {
  let program: Running;
  beforeAll(async () => {
    const env = { ...process.env, ...pythonEnv() };
    // The URL may be in the log.
    const shell = ["sh", "-c", `exec ${command} 2>&1`];
    program = await startServer(shell, { maxSeconds: 300, cwd: FOLDER, env });
  });
  afterAll(() => program.close());

  test("takes every spelling that it is sent for one variable", async () => {
    for (const name of spellings("X-Internal-User", marks)) {
      expect(await variablesOf(program.url, [name])).toMatchObject({ HTTP_X_INTERNAL_USER: "f" });
    }
  });

  test.for(Object.entries(PROXIES))(
    "receives no variable of a field that a rule matches, behind %s",
    async ([, start]) => {
      const names = ["X-Internal-User", "x-trace-id"].flatMap((name) => spellings(name, "-_."));
      const proxy = await start(RULES, program.url);
      try {
        const variables = await variablesOf(proxy.url, names);
        expect(variables).toMatchObject({ HTTP_X_KEPT_ID: "kept" });
        expect(Object.keys(variables).filter((name) => FORGED.includes(name))).toEqual([]);
      } finally {
        await proxy.close();
      }
    },
  );
});
