// Checks that `require` returns the same package as `import`, ready for use.
const required = require("hedgerow");

const matches = new required.HeaderStripper(["x-internal-*"]).matches("X-Internal-User");
import("hedgerow").then((imported) => {
  const isSame = imported.HeaderStripper === required.HeaderStripper;
  console.log(JSON.stringify({ matches, isSame, from: require.resolve("hedgerow") }));
});
