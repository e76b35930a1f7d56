/**
 * Returns the command line that runs a command with a small private disk mounted on a folder.
 *
 * @param size in the syntax of `mount`
 * @param setUp shell commands to run first, with the folder as `$0`
 */
export function onDisk(folder: string, size: string, setUp = ":"): string[] {
  const isRoot = process.getuid?.() === 0;
  const namespace = isRoot ? ["--mount"] : ["--mount", "--map-root-user"];
  const mount = `mount -t tmpfs -o mode=700,size=${size} tmpfs "$0"`;
  return ["unshare", ...namespace, "sh", "-c", `set -e; ${mount}; ${setUp}; exec "$@"`, folder];
}
