import { HedgerowError } from "hedgerow";
import { hedgerow } from "hedgerow/workers";
import { equal, thrownBy } from "../../support/assert.js";
import type { Cases } from "../case.js";
import { echo, forged, PATHS, RULES, received, stripped } from "./messages.js";

/** Returns the code of the error that `call` throws. */
function codeThrownBy(call: () => unknown): string {
  const error = thrownBy(call);
  return error instanceof HedgerowError ? error.code : String(error);
}

export const workersAdapter: Cases = {
  "hedgerow/workers strips internal fields from requests and responses": async () => {
    const worker = hedgerow({ headers: RULES }, { fetch: echo });
    equal(await received(await worker.fetch(forged("/about"))), stripped());
  },

  "hedgerow/workers answers 404 for absent paths without calling the handler": async () => {
    const asked: string[] = [];
    const fetch = ({ url }: Request) => {
      asked.push(new URL(url).pathname);
      return new Response();
    };
    const worker = hedgerow({ paths: PATHS }, { fetch });
    const statuses = [];
    for (const path of ["/about", "/blog/x", "/wp-login.php"]) {
      statuses.push((await worker.fetch(forged(path))).status);
    }
    equal(statuses, [200, 200, 404]);
    equal(asked, ["/about", "/blog/x"]);
  },

  "hedgerow/workers strips immutable responses": async () => {
    const redirect = (_: Request) => Response.redirect("http://localhost/elsewhere", 307);
    const worker = hedgerow({ headers: ["location"] }, { fetch: redirect });
    const { status, headers } = await worker.fetch(forged("/"));
    equal([status, headers.get("location")], [307, null]);
  },

  "hedgerow/workers refuses invalid options when it is called": () => {
    const codeOf = (options: unknown) => codeThrownBy(() => hedgerow(options as object));
    const wrong = [{}, { header: RULES }, { headers: "x-internal-*" }, { paths: 7 }];
    equal(wrong.map(codeOf), ["ERR_OPTIONS", "ERR_OPTIONS", "ERR_OPTIONS", "ERR_OPTIONS"]);
    equal(codeOf({ headers: ["*"] }), "ERR_HEADER_RULE");
  },
};
