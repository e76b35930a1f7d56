/** The programs of the Kubernetes example, each in its own process, and requests to them. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { text } from "node:stream/consumers";

import { exampleFolder } from "../examples/run.js";
import { startProgram } from "../processes/serve.js";

const EXAMPLE = exampleFolder("kubernetes");

/** The timeout of a process. */
const MAX_SECONDS = 600;

/** The status and the body of a response. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it
  readonly body: any;
}

/** A program that listens. */
export class ExampleProgram {
  /** Everything that it has printed. */
  printed = "";
  /** Resolves with its exit code, which is 1 if a signal has ended it. */
  readonly ended: Promise<number>;
  /** Where its server listens. */
  url = "";
  readonly #program;

  private constructor(script: string, env: Record<string, string>) {
    const command = [process.execPath, `${EXAMPLE}src/${script}`];
    const surroundings = { ...process.env, ...env, HOST: "127.0.0.1", PORT: "0" };
    this.#program = startProgram(command, { env: surroundings, maxSeconds: MAX_SECONDS });
    const { child } = this.#program;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => {
        this.printed += chunk;
      });
    }
    this.ended = once(child, "exit").then(([code]) => code);
  }

  /** Starts a script, and waits until it prints where it listens. @param url what it prints. Default: a URL on loopback */
  static async start(
    script: string,
    env: Record<string, string>,
    url = /http:\/\/127\.0\.0\.1:\d+/,
  ): Promise<ExampleProgram> {
    const program = new ExampleProgram(script, env);
    const { stdout } = program.#program.child;
    while (program.url === "") {
      const isEnded = await Promise.race([once(stdout, "data"), program.ended.then(() => true)]);
      if (isEnded === true) throw new Error(`${script} has ended: ${program.printed}`);
      program.url = url.exec(program.printed)?.[0] ?? "";
    }
    return program;
  }

  /** Sends a signal to the program itself, not to its guard. */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#program.child;
    process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")), signal);
  }

  close(): Promise<void> {
    return this.#program.close();
  }
}

/** Sends a request to a Unix socket. */
export async function ask(
  socketPath: string,
  body: unknown,
  [method, path]: readonly [string, string] = ["PUT", "/images"],
): Promise<Answer> {
  const asked = request({ socketPath, method, path, agent: false });
  asked.end(typeof body === "string" ? body : JSON.stringify(body));
  const [response] = await once(asked, "response");
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

/** Sends a request to a URL. */
export async function post(url: string, body: string): Promise<Answer> {
  const response = await fetch(url, { method: "POST", body });
  return { status: response.status, body: await response.json() };
}
