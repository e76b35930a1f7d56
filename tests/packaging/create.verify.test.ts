/** A project of each template of `npm create hedgerow`, installed with all packed packages, tested and run. */
import { join } from "node:path";
import { test } from "vitest";

import { temporaryFolder } from "../support/snapshots/folder.js";
import { minutes } from "../support/trials.js";
import { expectProject, type Start } from "./support/created.js";
import { TARBALLS } from "./support/project.js";

const path = temporaryFolder();

const STARTS: Readonly<Record<string, Start>> = {
  worker: {
    // An origin is not needed. The URL that it prints first must be its own.
    args: ["--", "--ip", "127.0.0.1", "--port", "0", "--var", "ORIGIN:http://origin.invalid"],
    absent: "/wp-login.php",
  },
  hono: { absent: "/plants/oak" },
  next: { args: ["--", "--hostname", "127.0.0.1", "--port", "0"], absent: "/plants/oak" },
  express: { absent: "/wp-login.php" },
  fastify: { absent: "/plants/oak" },
  sandbox: { prints: "alice: run 1" },
};

// npm installs hundreds of packages, and Next.js builds.
test.for(Object.entries(STARTS))(
  "a project of the template %s",
  minutes({ all: 5 }),
  ([template, start]) => expectProject(join(path(template), "my app"), template, TARBALLS, start),
);
