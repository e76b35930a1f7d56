// The command line: `npm start run alice`, and `npm start fork alice bob`.
import { DiskStore } from "@hedgerow/snapshot";

import { run } from "./sandbox.js";

const [action, name = "", fork = ""] = process.argv.slice(2);
// A folder, or a place that all hosts share, such as s3://my-bucket/disks
const store = await DiskStore.open(process.env.SANDBOX_STORE ?? "disks");
try {
  if (action === "run") {
    console.log(`${name} has run ${await run(store, name)} times`);
  } else if (action === "fork") {
    await store.fork(name, fork);
    console.log(`${fork} begins with the disk of ${name}`);
  } else if (action === "list") {
    for await (const disk of store.list()) console.log(disk);
  } else {
    console.log("npm start run NAME | fork NAME NEW-NAME | list");
  }
} finally {
  await store.close();
}
