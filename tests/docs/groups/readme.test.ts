/** What the README says works. */
import { runDocuments } from "../run.js";

runDocuments("readme");
