/** Runs the README and CONTRIBUTING.md. */
import { runDocuments } from "../run.js";

runDocuments("readme");
