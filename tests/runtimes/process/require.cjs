// Required from CommonJS, the package is the one that is imported, and is ready at once.
const required = require("hedgerow");

const matches = new required.HeaderStripper(["x-internal-*"]).matches("X-Internal-User");
import("hedgerow").then((imported) => {
  const isSame = imported.HeaderStripper === required.HeaderStripper;
  console.log(JSON.stringify({ matches, isSame, from: require.resolve("hedgerow") }));
});
