/** Runs cases in sequence on any engine, and returns their outcomes. */
import type { Cases } from "../cases/case.js";

/** The outcome of a case, which passed if there is no error. */
export interface Outcome {
  subject: string;
  promise: string;
  error?: string;
}

/** Runs all cases of these suites in order. */
export async function runSuites<Runtime>(
  suites: Readonly<Record<string, Cases<Runtime>>>,
  runtime: Runtime,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [subject, cases] of Object.entries(suites)) {
    for (const [promise, run] of Object.entries(cases)) {
      outcomes.push({ subject, promise, ...(await errorOf(run, runtime)) });
    }
  }
  return outcomes;
}

async function errorOf<Runtime>(run: Cases<Runtime>[string], runtime: Runtime) {
  try {
    await run(runtime);
    return {};
  } catch (error) {
    // Only some engines include the message in the stack.
    return { error: error instanceof Error ? `${error}\n${error.stack}` : String(error) };
  }
}
