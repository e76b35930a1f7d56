// A script of a suite in a process of its own: `child.mjs SCRIPT PARAMETERS`. Calls the script’s `measure` with the
// parameters, which are JSON, and prints its results as JSON.
const [, , script = "", parameters = ""] = process.argv;
const { measure } = await import(script);
console.log(JSON.stringify(await measure(JSON.parse(parameters))));
