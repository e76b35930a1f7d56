/** Servers with TLS. Each process under test trusts the certificate, or does not. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, expect, test } from "vitest";

import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { type Job, run, sharedProcess } from "../support/job.js";
import { expectNoConnections, faultsOf, isPart, originOf } from "../support/remote.js";

const path = temporaryFolder();
const bytes = noise("image", 3 * 2 ** 20);
const tls = makeCertificate();
/** Runs jobs in a process that trusts the certificate. */
const runTrusting = sharedProcess({ env: { NODE_EXTRA_CA_CERTS: path("cert.pem") } });

beforeAll(async () => {
  writeFileSync(path("image"), bytes);
  writeFileSync(path("cert.pem"), tls.cert);
  await createSnapshot(path("image"), path("image.vhs"), { pieceSize: 2 ** 16 });
});

beforeEach(() => {
  rmSync(path("folder"), { recursive: true, force: true });
  mkdirSync(path("folder"));
});

const jobOf = (source: URL): Job => ({
  call: "restoreSnapshot",
  source: source.href,
  target: path("folder", "target"),
  options: { workers: 1, connections: 3, partSize: 2 ** 18, retries: 3 },
});

test("restores over TLS with a trusted certificate although connections are cut", async () => {
  const faults = faultsOf(isPart, { cutAfter: 100_000 }, 5);
  const origin = await originOf({ "/a.vhs": readFileSync(path("image.vhs")) }, { tls, faults });
  const outcome = await runTrusting(jobOf(origin.url("/a.vhs")));
  const target = createHash("sha256").update(bytes).digest("hex");
  expect(outcome).toMatchObject({ error: null, target, running: 0, names: ["target"] });
  expect(origin.requests.filter(({ aborted }) => aborted).length).toBeGreaterThanOrEqual(3);
  await expectNoConnections(origin);
});

test("reports a certificate that is not trusted, without a retry", async () => {
  const origin = await originOf({ "/a.vhs": path("image.vhs") }, { tls });
  const outcome = await run(jobOf(origin.url("/a.vhs")));
  expect(outcome.error).toMatchObject({
    code: "ERR_SOURCE",
    causeCode: "DEPTH_ZERO_SELF_SIGNED_CERT",
  });
  expect(outcome.error?.message).toContain(`cannot read ${origin.url("/a.vhs").href}: TLS failed`);
  expect(outcome.error?.message).not.toContain("in a row");
  expect(outcome).toMatchObject({ names: [], running: 0 });
  expect(origin.requestCount).toBe(0);
  await expectNoConnections(origin);
});

test("reports TLS to a server without it, and no TLS to a server with it", async () => {
  const plain = await originOf({ "/a.vhs": path("image.vhs") });
  const secure = await originOf({ "/a.vhs": path("image.vhs") }, { tls });
  const [first, second] = [plain.url("/a.vhs"), secure.url("/a.vhs")];
  first.protocol = "https:";
  second.protocol = "http:";
  for (const url of [first, second]) {
    const outcome = await runTrusting(jobOf(url));
    expect(outcome.error).toMatchObject({ code: "ERR_SOURCE" });
    expect(outcome.error?.message).toContain(url.href);
    expect(outcome).toMatchObject({ names: [], running: 0 });
  }
});
