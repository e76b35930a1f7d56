// The environment of both programs, checked. Errors name variables and never show values, which may be secrets.

/** Returns a variable. @param {string} name @param {string} [fallback] */
export function variable(name, fallback) {
  const value = process.env[name] || fallback;
  if (value === undefined) throw new Error(`expected the environment variable ${name}`);
  return value;
}

/** Returns a variable as a whole number. @param {string} name @param {number} [fallback] */
export function numberIn(name, fallback) {
  const value = Number(variable(name, fallback?.toString()));
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name}: expected a number`);
  return value;
}

/** Runs a program, and ends the process with the message of an error. @param {() => Promise<void>} main */
export async function run(main) {
  try {
    await main();
  } catch (error) {
    // Only the message: an invalid URL is a property of its error, with the password.
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
