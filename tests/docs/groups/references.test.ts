/** Runs the reference documents in docs. */
import { runDocuments } from "../run.js";

runDocuments("references");
