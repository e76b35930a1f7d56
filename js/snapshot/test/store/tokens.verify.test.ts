/** Services that authorise requests by tokens, which end. */
import { readFileSync, writeFileSync } from "node:fs";

import {
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { closed, serve } from "../../../../tests/support/http/listen.js";
import { azurite, fakeGcs, type ServiceServer } from "../../../../tests/support/services.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { type InjectFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { type Job, run } from "../support/job.js";
import { StoreProcess } from "../support/store-process.js";

const MIB = 2 ** 20;

const path = temporaryFolder();
const tls = makeCertificate();

/** The seconds for which a token is valid. Clients ask for another one some minutes before the end. */
const LIFETIME = 60;

/** A server that gives tokens to the programs of a machine, each time another one. */
async function startIssuer() {
  let count = 0;
  const { server, url } = await serve((_, response) => {
    count += 1;
    const token = { access_token: `secret-${count}`, token_type: "Bearer" };
    const end = Math.ceil(Date.now() / 1000) + LIFETIME;
    response.setHeader("Metadata-Flavor", "Google").setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...token, expires_in: LIFETIME, expires_on: end }));
  });
  return { url, close: () => closed(server) };
}

/** A signature with which Azurite answers requests in place of their tokens. */
function signatureOf({ bucket, options }: ServiceServer): string {
  const { host: account, pathname } = new URL(bucket);
  const credential = new StorageSharedKeyCredential(account, String(options.azure?.accountKey));
  const values = {
    containerName: pathname.slice(1),
    permissions: ContainerSASPermissions.parse("racwdl"),
    expiresOn: new Date(Date.now() + 3_600_000),
  };
  return generateBlobSASQueryParameters(values, credential).toString();
}

const SERVICES = {
  Azurite: {
    start: azurite,
    /** The variables by which a client finds the issuer. */
    variables: ({ href }: URL) => ({ IDENTITY_ENDPOINT: href, IDENTITY_HEADER: "any" }),
    options: (endpoint: URL) => ({ azure: { endpoint: new URL("hedgerow", endpoint).href } }),
    signature: signatureOf,
  },
  "fake-gcs-server": {
    start: fakeGcs,
    variables: ({ host }: URL) => ({
      GCE_METADATA_HOST: host,
      METADATA_SERVER_DETECTION: "assume-present",
    }),
    options: (endpoint: URL) => ({ gcs: { endpoint: endpoint.href } }),
    signature: () => "",
  },
};

describe.each(Object.entries(SERVICES))("%s", (_, { start, variables, options, signature }) => {
  let server: ServiceServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;

  beforeAll(async () => {
    writeFileSync(path("cert.pem"), tls.cert);
    writeFileSync(path("image"), noise("image", 4 * MIB));
    [server, issuer] = await Promise.all([start(), startIssuer()]);
  });
  afterAll(() => Promise.all([server?.close(), issuer?.close()]));

  /** Starts what checks tokens before the service. @param isValid whether a request for a range may have this token */
  const startChecks = (isValid: (token: string) => boolean) => {
    const inject: InjectFault = (request) => {
      const { authorization = "", ...headers } = request.headers;
      const [, token = ""] = /^Bearer (secret-\d+)$/.exec(authorization) ?? [];
      const isRange = headers.range !== undefined;
      if (token === "" || (isRange && !isValid(token))) return { status: 401 };
      // With this field, URLs in responses have the scheme of this proxy.
      request.headers = { ...headers, "x-forwarded-proto": "https" };
      // Objects are served at the server's own name.
      if (request.method === "GET" && !request.url?.startsWith("/storage/"))
        request.headers.host = server.endpoint.host;
      const separator = request.url?.includes("?") ? "&" : "?";
      request.url += `${separator}${signature(server)}`;
      return undefined;
    };
    return startProxy(server.endpoint, inject, { tls });
  };

  /** The variables of a process that asks for tokens. */
  const env = () => ({ NODE_EXTRA_CA_CERTS: path("cert.pem"), ...variables(issuer.url) });

  const perform = (job: Pick<Job, "call" | "source" | "target">, endpoint: URL) =>
    run(
      { ...job, options: { workers: 1, connections: 2, partSize: 2 ** 18, ...options(endpoint) } },
      { env: env() },
    );

  test("stores a snapshot, and asks for other tokens when those of a restore have ended", async () => {
    const used: string[] = [];
    let count = 0;
    await using checks = await startChecks((token) => {
      if (!used.includes(token)) used.push(token);
      count += 1;
      return count <= 3 || token !== used[0];
    });
    const { endpoint } = checks;
    const place = `${server.bucket}/image.vhs`;
    const created = await perform(
      { call: "createSnapshot", source: path("image"), target: place },
      endpoint,
    );
    expect(created.error).toBeNull();
    const job = { call: "restoreSnapshot", source: place, target: path("restored") } as const;
    expect((await perform(job, endpoint)).error).toBeNull();
    expect(readFileSync(path("restored")).equals(readFileSync(path("image")))).toBe(true);
    expect(used.length).toBeGreaterThan(1);
  });

  test("keeps a disk", async () => {
    await using checks = await startChecks(() => true);
    const host = new StoreProcess(0, env());
    onTestFinished(() => host.ended());
    const place = { images: path("images"), ...options(checks.endpoint) };
    const store = await host.open(`${server.bucket}/disks`, place);
    await store.create("alice", { image: path("image") });
    const disk = await store.attach("alice");
    await disk.write(MIB, Buffer.alloc(MIB, "a"));
    await disk.detach();
    await store.fork("alice", ["bob"]);
    await store.remove("alice");
    await store.collect();
    const fork = await store.attach("bob");
    const expected = readFileSync(path("image")).fill("a", MIB, 2 * MIB);
    expectSame(await fork.read(0, 4 * MIB), expected);
    await fork.detach();
    await store.close();
  });

  test("says that access is denied if no token is valid, without the tokens", async () => {
    await using checks = await startChecks(() => false);
    const source = `${server.bucket}/image.vhs`;
    const { error } = await perform(
      { call: "verifySnapshot", source, target: path("none") },
      checks.endpoint,
    );
    expect(error).toMatchObject({ code: "ERR_SOURCE", status: 401 });
    expect(error?.message).toContain(source);
    expect(error?.message).not.toContain("secret");
  });
});
