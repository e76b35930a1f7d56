/** Servers of object services for tests, each with an empty bucket. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import type { TransferOptions } from "@hedgerow/snapshot";

import { goTool } from "../../scripts/lib/go.mjs";
import { MOTO, pythonEnv } from "../../scripts/lib/python.mjs";
import { freePort } from "./http/listen.js";
import { type Program, startProgram } from "./processes/serve.js";
import { startS3 } from "./s3/server.js";

/** A server of an object service. */
export interface ServiceServer {
  /** The URL of the bucket. */
  readonly bucket: string;
  /** The options that reach it. */
  readonly options: Pick<TransferOptions, "s3" | "gcs" | "azure">;
  /** Texts that no message may hold. */
  readonly secrets: readonly string[];
  /** The address of the server. */
  readonly endpoint: URL;
  /** Returns the options that reach it through another address. */
  through(endpoint: URL): ServiceServer["options"];
  /** Returns the keys of all objects below a prefix. */
  keys(prefix: string): Promise<string[]>;
  close(): Promise<void>;
}

/** No file of tests takes longer, even with all trials. */
const MAX_SECONDS = 3600;

const AZURITE = fileURLToPath(
  new URL("../services/node_modules/azurite/dist/src/blob/main.js", import.meta.url),
);

const BUCKET = "snapshots";

/** The servers that `npm test` starts, by their names. */
export const SERVERS = {
  versitygw,
  Azurite: () => azurite(),
  "fake-gcs-server": () => fakeGcs(),
  moto,
};

export type ServerName = keyof typeof SERVERS;

function serverOf(
  bucket: string,
  endpoint: URL,
  close: () => Promise<void>,
  more: Pick<ServiceServer, "through" | "secrets" | "keys">,
): ServiceServer {
  return { bucket, endpoint, close, options: more.through(endpoint), ...more };
}

async function versitygw(): Promise<ServiceServer> {
  const { endpoint, region, credentials, bucket, objects, close } = await startS3();
  return serverOf(`s3://${bucket}`, endpoint, close, {
    through: (address) => ({ s3: { endpoint: address, region, credentials } }),
    secrets: [credentials.secretAccessKey],
    keys: async (prefix) => objects().filter((key) => key.startsWith(prefix)),
  });
}

/** Starts an S3 server in Python, which takes any credentials. */
async function moto(): Promise<ServiceServer> {
  const env = { ...process.env, ...pythonEnv(MOTO) };
  const { origin, close } = await start(env, (port) => [
    ...["python3", "-m", "moto.server", "-H", "127.0.0.1", "-p", port],
  ]);
  await fetch(`${origin}/${BUCKET}`, { method: "PUT" });
  const credentials = {
    accessKeyId: "any",
    secretAccessKey: randomBytes(30).toString("base64url"),
  };
  return serverOf(`s3://${BUCKET}`, new URL(origin), close, {
    through: (endpoint) => ({ s3: { endpoint, region: "us-east-1", credentials } }),
    secrets: [credentials.secretAccessKey],
    keys: async (prefix) => {
      const list = await fetch(`${origin}/${BUCKET}?list-type=2&prefix=${prefix}`);
      return [...(await list.text()).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = ""]) => key);
    },
  });
}

/** Starts Azure's emulator. */
export async function azurite(account = "hedgerow", container = BUCKET): Promise<ServiceServer> {
  const accountKey = randomBytes(64).toString("base64");
  const env = { ...process.env, AZURITE_ACCOUNTS: `${account}:${accountKey}` };
  const settings = ["--inMemoryPersistence", "--silent", "--skipApiVersionCheck"];
  // It would send what it does to its makers.
  const quiet = [...settings, "--disableTelemetry"];
  const { origin, close } = await start(env, (port) => [
    ...[process.execPath, AZURITE, ...quiet, "--blobHost", "127.0.0.1", "--blobPort", port],
  ]);
  const endpoint = `${origin}/${account}`;
  const credential = new StorageSharedKeyCredential(account, accountKey);
  const client = new BlobServiceClient(endpoint, credential).getContainerClient(container);
  await client.create();
  return serverOf(`az://${account}/${container}`, new URL(origin), close, {
    through: (address) => ({ azure: { endpoint: new URL(account, address).href, accountKey } }),
    secrets: [accountKey, "sig="],
    keys: async (prefix) => {
      const keys = [];
      for await (const { name } of client.listBlobsFlat({ prefix })) keys.push(name);
      return keys;
    },
  });
}

/** Starts a server with the interface of Google Cloud Storage. */
export async function fakeGcs(bucket = BUCKET): Promise<ServiceServer> {
  const program = goTool("fake-gcs-server");
  if (!existsSync(program)) throw new Error(`expected ${program}, which scripts/test.mjs builds`);
  const { origin, close } = await start(process.env, (port) => [
    ...[program, "-scheme", "http", "-host", "127.0.0.1", "-port", port],
    ...["-backend", "memory", "-public-host", `127.0.0.1:${port}`, "-log-level", "error"],
  ]);
  await fetch(`${origin}/storage/v1/b?project=tests`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: bucket }),
  });
  return serverOf(`gs://${bucket}`, new URL(origin), close, {
    through: (address) => ({ gcs: { endpoint: address.origin } }),
    secrets: [],
    keys: async (prefix) => {
      const list = await fetch(`${origin}/storage/v1/b/${bucket}/o?prefix=${prefix}`);
      const { items = [] } = (await list.json()) as { items?: { name: string }[] };
      return items.map(({ name }) => name);
    },
  });
}

/** Starts a server. If another process takes its port first, it tries another port. */
async function start(
  env: NodeJS.ProcessEnv,
  commandFor: (port: string) => readonly string[],
): Promise<{ origin: string; close(): Promise<void> }> {
  let printed = "";
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const port = String(await freePort());
    const program = startProgram(commandFor(port), { env, maxSeconds: MAX_SECONDS });
    for (const output of [program.child.stdout, program.child.stderr])
      output.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    const origin = `http://127.0.0.1:${port}`;
    if (await answers(program, origin)) return { origin, close: program.close };
    await program.close();
  }
  throw new Error(`the server does not start: ${printed}`);
}

/** Returns whether a server responds, whatever it says, within thirty seconds. */
async function answers({ child }: Program, origin: string): Promise<boolean> {
  for (let wait = 0; wait < 600 && child.exitCode === null; wait += 1) {
    const response = await fetch(origin).catch(() => undefined);
    if (response !== undefined) return true;
    await sleep(50);
  }
  return false;
}
