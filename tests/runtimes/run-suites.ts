/** Runs cases one after another, on any engine, and tells how each of them ended. */
import type { Cases } from "../cases/case.js";

/** How a case ended: kept, if there is no error. */
export interface Outcome {
  subject: string;
  promise: string;
  error?: string;
}

/** Runs all cases of these suites, in their order. */
export async function runSuites<Asked>(
  suites: Readonly<Record<string, Cases<Asked>>>,
  runtime: Asked,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [subject, cases] of Object.entries(suites)) {
    for (const [promise, run] of Object.entries(cases)) {
      outcomes.push({ subject, promise, ...(await faultOf(run, runtime)) });
    }
  }
  return outcomes;
}

async function faultOf<Asked>(run: Cases<Asked>[string], runtime: Asked) {
  try {
    await run(runtime);
    return {};
  } catch (error) {
    // Of errors, some engines have the message in the stack, and some have not.
    return { error: error instanceof Error ? `${error}\n${error.stack}` : String(error) };
  }
}
