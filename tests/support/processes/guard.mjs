// Runs a command, and kills it when standard input ends, which happens when the parent process
// exits, or after a timeout: `guard.mjs SECONDS COMMAND [ARGUMENT...]`. The processes that the command starts are killed,
// too.
import { spawn } from "node:child_process";

const [seconds, command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], detached: true });
const kill = () => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // All have ended.
  }
};
process.stdin.on("end", kill).on("error", kill).resume();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, kill);
setTimeout(kill, Number(seconds) * 1000);
child.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
child.on("exit", (status) => process.exit(status ?? 1));
