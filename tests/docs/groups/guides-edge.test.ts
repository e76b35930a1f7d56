/** Runs the guides to headers, paths and rollouts, from an empty folder. */
import { runDocuments } from "../run.js";

runDocuments("guides-edge");
