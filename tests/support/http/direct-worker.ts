/** Workers that listen on workerd's own sockets, without another worker in between. */
import { Miniflare, type WorkerOptions } from "miniflare";
import { bundle, LOCAL } from "../../../scripts/lib/worker.mjs";

/**
 * Runs a worker whose fetches all go to `origin`, whatever their host.
 *
 * @param entry path from the root of the repository
 */
export async function startDirectWorker(
  entry: string,
  bindings: WorkerOptions["bindings"],
  origin: URL,
): Promise<{ worker: Miniflare; url: URL }> {
  const worker = new Miniflare({
    ...LOCAL,
    modules: await bundle(entry),
    bindings,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    outboundService: { external: { address: origin.host, http: {} } },
  });
  return { worker, url: await worker.unsafeGetDirectURL() };
}
