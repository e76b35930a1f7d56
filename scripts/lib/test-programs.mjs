// The programs that tests run and no package of npm has.
import { installPrograms } from "./debian.mjs";
import { installGoTool } from "./go.mjs";
import { installPythonPackages } from "./python.mjs";

/** One after another: Debian's come first, as the others may need them, and `apt-get` is alone. */
export function installTestPrograms() {
  installPrograms("tests");
  installPythonPackages();
  installGoTool("versitygw");
}
