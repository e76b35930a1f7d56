import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

import { GUARD } from "../processes/serve.js";
import { type S3Server, startS3 } from "./server.js";

/** Sends a signed request and returns the response body. */
async function request(s3: S3Server, method: string, path: string): Promise<string> {
  const { accessKeyId, secretAccessKey } = s3.credentials;
  const { stdout } = await promisify(execFile)("curl", [
    ...["--silent", "--show-error", "--fail", "--request", method],
    ...["--user", `${accessKeyId}:${secretAccessKey}`, "--aws-sigv4", `aws:amz:${s3.region}:s3`],
    ...["--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"],
    ...(method === "PUT" ? ["--data-binary", "stored bytes"] : []),
    new URL(`/${s3.bucket}/${path}`, s3.endpoint).href,
  ]);
  return stdout;
}

test("lists objects and unfinished uploads, and refuses requests without a key", async () => {
  const s3 = await startS3();
  try {
    expect([s3.objects(), s3.multipartUploads()]).toEqual([[], []]);
    await request(s3, "PUT", "folder/object");
    const answer = await request(s3, "POST", "folder/upload?uploads=");
    expect(s3.objects()).toEqual(["folder/object"]);
    const [upload, ...others] = s3.multipartUploads();
    expect(upload?.key).toBe("folder/upload");
    expect(answer).toContain(`<UploadId>${upload?.uploadId}</UploadId>`);
    expect(others).toEqual([]);
    await request(s3, "DELETE", `folder/upload?uploadId=${upload?.uploadId}`);
    expect(s3.multipartUploads()).toEqual([]);
    expect(await request(s3, "GET", "folder/object")).toBe("stored bytes");
    const refused = await fetch(new URL(`/${s3.bucket}/folder/object`, s3.endpoint));
    expect(refused.status).toBe(403);
  } finally {
    await s3.close();
  }
});

test("ends with the process that started it, even if that is killed", async () => {
  const script = `
    const { spawn } = require("node:child_process");
    const server = "console.log(process.pid); setInterval(() => {}, 1000)";
    const args = [${JSON.stringify(GUARD)}, "60", process.execPath, "--eval", server];
    spawn(process.execPath, args, { stdio: ["pipe", "inherit", "inherit"] });
    setInterval(() => {}, 1000);
  `;
  const starter = spawn(process.execPath, ["--eval", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [line] = (await once(starter.stdout, "data")) as [Buffer];
  const server = Number(line.toString());
  expect(isRunning(server)).toBe(true);
  starter.kill("SIGKILL");
  for (let wait = 0; wait < 500 && isRunning(server); wait += 1) await sleep(10);
  expect(isRunning(server)).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
