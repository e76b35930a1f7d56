// Chooses between KVM, which is fast, and TCG, which works everywhere.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** How long a machine without a disk may take with KVM, in milliseconds. On some hosts, machines hang with KVM. */
const TIMEOUT = 5_000;

/** Returns the accelerator for QEMU. @param {readonly string[]} kernel QEMU's options for the kernel */
export async function accelerator(kernel) {
  const { SANDBOX_ACCELERATOR: chosen } = process.env;
  if (chosen) return chosen;
  // Without a disk, the kernel panics at once, which ends QEMU.
  const args = ["-machine", "q35,accel=kvm", "-no-reboot", "-nodefaults", "-nographic", ...kernel];
  const probe = promisify(execFile)("qemu-system-x86_64", args, {
    ...{ timeout: TIMEOUT, killSignal: "SIGKILL" },
  });
  return probe.then(
    () => "kvm",
    () => "tcg",
  );
}
