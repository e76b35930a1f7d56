/** A registry of images on this machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Registry extends AsyncDisposable {
  readonly address: string;
  /** A home in which skopeo reads that the registry has no TLS. */
  readonly HOME: string;
}

/** Starts a registry that keeps its data in a folder. */
export async function startRegistry(folder: string): Promise<Registry> {
  const config = join(folder, "registry.json");
  const storage = { filesystem: { rootdirectory: join(folder, "registry") } };
  // YAML includes JSON.
  const settings = { version: 0.1, storage, http: { addr: "127.0.0.1:0" } };
  writeFileSync(config, JSON.stringify(settings));
  const child = spawn("docker-registry", ["serve", config], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(child, "close");
  let text = "";
  child.stderr.on("data", (data: Buffer) => {
    text += data;
  });
  const isReady = () => /listening on \S+:\d/.test(text) || child.exitCode !== null;
  while (!isReady()) await Promise.race([once(child.stderr, "data"), closed]);
  const address = /listening on (127\.0\.0\.1:\d+)/.exec(text)?.[1];
  if (address === undefined) throw new Error(`docker-registry did not start: ${text}`);
  const HOME = join(folder, "home");
  const containers = join(HOME, ".config", "containers");
  mkdirSync(containers, { recursive: true });
  const lines = `[[registry]]\nlocation = "${address}"\ninsecure = true\n`;
  writeFileSync(join(containers, "registries.conf"), lines);
  return {
    address,
    HOME,
    async [Symbol.asyncDispose]() {
      child.kill();
      await closed;
    },
  };
}
