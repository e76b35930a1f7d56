/** Runs the READMEs of packages and crates. */
import { runDocuments } from "../run.js";

runDocuments("packages");
