/** All other guides work, from an empty folder. */
import { runDocuments } from "../run.js";

runDocuments("guides");
