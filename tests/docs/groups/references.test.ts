/** What the documents of formats and benchmarks say works. */
import { runDocuments } from "../run.js";

runDocuments("references");
