import { setTimeout as delay } from "node:timers/promises";

import { Residency } from "@hedgerow/fleet";
import { Option } from "commander";

import { CliError, messageOf } from "../error.js";

export const redisOption = () =>
  new Option("--redis <url>", "Redis or Valkey, such as redis://localhost:6379").env("REDIS_URL");

/** How long a connection may take, in milliseconds. */
const CONNECT_TIMEOUT = 5_000;

/**
 * Calls `use` with a picture of the fleet, and stops to watch afterwards.
 *
 * @throws {CliError} `ERR_ENGINE` if the server cannot be reached, or does not answer; `ERR_USAGE` for an invalid URL
 */
export async function withResidency<T>(
  url: string,
  use: (residency: Residency) => T | Promise<T>,
): Promise<T> {
  const client = await clientOf(url);
  try {
    await connected(client).catch((error) => fail(reasonOf(error)));
    let reason = "does not answer";
    const residency = await Residency.watch({
      client,
      onError: (error) => {
        reason = error.message;
      },
    });
    try {
      return residency.isCurrent ? await use(residency) : fail(reason);
    } finally {
      await residency.close();
    }
  } finally {
    if (client.isOpen) client.destroy();
  }
}

async function clientOf(url: string) {
  // Loading it takes longer than starting Node.
  const { createClient } = await import("@redis/client");
  const socket = { connectTimeout: CONNECT_TIMEOUT, reconnectStrategy: false } as const;
  try {
    return createClient({ url, socket }).on("error", () => {});
  } catch {
    // The URL may have a password.
    throw new CliError("ERR_USAGE", "--redis: expected redis://host:port or rediss://host:port");
  }
}

/** Connects, unless the server accepts the connection and does not answer. */
function connected(client: Awaited<ReturnType<typeof clientOf>>): Promise<unknown> {
  const deadline = delay(CONNECT_TIMEOUT, undefined, { ref: false }).then(() => {
    throw new Error("does not answer");
  });
  return Promise.race([client.connect(), deadline]);
}

/** Returns why a connection failed: the error of several addresses has no message. */
function reasonOf(error: unknown): string {
  const { errors = [error] } = Object(error) as { readonly errors?: readonly unknown[] };
  return errors.map(messageOf).join(", ");
}

function fail(reason: string): never {
  throw new CliError("ERR_ENGINE", `Redis: ${reason}`);
}
