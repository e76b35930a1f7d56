/** Runs the guides to headers and paths, from an empty folder. */
import { runDocuments } from "../run.js";

runDocuments("guides-edge");
