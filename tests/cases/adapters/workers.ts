import { HedgerowError } from "hedgerow";
import { hedgerow } from "hedgerow/workers";
import { equal, thrownBy } from "../../support/assert.js";
import type { Cases } from "../case.js";
import {
  echo,
  forged,
  PATHS,
  ROLLOUT_REPORTS,
  RULES,
  received,
  reporting,
  stripped,
} from "./messages.js";

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

  "hedgerow/workers changes nothing in a dry run, and reports what it would do": async () => {
    const { options, reports } = reporting({ headers: RULES, paths: PATHS, dryRun: true });
    const [request, response] = [forged("/wp-login.php"), echo(forged("/"))];
    let seen: Request | undefined;
    const fetch = (given: Request) => {
      seen = given;
      return response;
    };
    equal((await hedgerow(options, { fetch }).fetch(request)) === response, true);
    equal([seen === request, request.headers.has("x-internal-user")], [true, true]);
    equal(reports, ROLLOUT_REPORTS);
  },

  "hedgerow/workers reports what it does, and ignores errors of report": async () => {
    const { options, reports } = reporting({ headers: RULES });
    const report: typeof options.report = (given) => {
      options.report(given);
      throw new RangeError("no log");
    };
    const { error } = console;
    console.error = () => {};
    try {
      const worker = hedgerow({ ...options, report }, { fetch: echo });
      equal(await received(await worker.fetch(forged("/about"))), stripped());
    } finally {
      console.error = error;
    }
    equal(reports, ["strip requests x-internal-user", "strip responses x-internal-node"]);
  },

  "hedgerow/workers leaves the fields of trusted requests alone": async () => {
    const trust = ({ url }: Request) => url.endsWith("/internal");
    const worker = hedgerow({ headers: RULES, trust }, { fetch: echo });
    const { seen, sent } = await received(await worker.fetch(forged("/internal")));
    equal([seen.includes("x-internal-user"), sent], [true, ["x-public"]]);
    equal(await received(await worker.fetch(forged("/about"))), stripped());
    const async = hedgerow({ headers: RULES, trust: (async () => true) as never }, { fetch: echo });
    equal(await received(await async.fetch(forged("/about"))), stripped());
  },

  "hedgerow/workers refuses invalid options when it is called": () => {
    const codeOf = (options: unknown) => codeThrownBy(() => hedgerow(options as object));
    const wrong = [{}, { header: RULES }, { headers: "x-internal-*" }, { paths: 7 }];
    equal(wrong.map(codeOf), ["ERR_OPTIONS", "ERR_OPTIONS", "ERR_OPTIONS", "ERR_OPTIONS"]);
    equal(codeOf({ headers: ["*"] }), "ERR_HEADER_RULE");
  },
};
