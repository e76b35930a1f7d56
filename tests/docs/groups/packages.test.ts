/** What the READMEs of packages and crates say works. */
import { runDocuments } from "../run.js";

runDocuments("packages");
