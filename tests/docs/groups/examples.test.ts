/** Runs the READMEs of examples. */
import { runDocuments } from "../run.js";

runDocuments("examples");
