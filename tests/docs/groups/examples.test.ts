/** What the READMEs of examples say works. */
import { runDocuments } from "../run.js";

runDocuments("examples");
