/** The guides to headers and paths work, from an empty folder. */
import { runDocuments } from "../run.js";

runDocuments("guides-edge");
