/**
 * Has a command run with a small disk of its own in a folder. It is there for this command alone, and goes
 * with it.
 *
 * @param size as `mount` has it
 * @param setUp what a shell does there before, with the folder as `$0`
 */
export function onDisk(folder: string, size: string, setUp = ":"): string[] {
  const isRoot = process.getuid?.() === 0;
  const namespace = isRoot ? ["--mount"] : ["--mount", "--map-root-user"];
  const mount = `mount -t tmpfs -o mode=700,size=${size} tmpfs "$0"`;
  return ["unshare", ...namespace, "sh", "-c", `set -e; ${mount}; ${setUp}; exec "$@"`, folder];
}
