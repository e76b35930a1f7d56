/** Runs all other guides, from an empty folder. */
import { runDocuments } from "../run.js";

runDocuments("guides");
