import {
  buildPathFilter,
  guardPaths,
  PathFilter,
  PathFilterStore,
  type PathGuardOptions,
  PathSet,
} from "hedgerow";
import { equal } from "../../support/assert.js";
import type { Cases } from "../case.js";

const PATHS = ["/", "/about", "/café", "/blog/*"];

/** Returns the status of the response for each path; 0 if the request passes. */
async function statusesOf(options: PathGuardOptions, ...paths: string[]): Promise<number[]> {
  const guard = guardPaths(options);
  const answers = paths.map((path) => guard(new Request(`http://localhost${path}`)));
  return (await Promise.all(answers)).map((answer) => answer?.status ?? 0);
}

export const pathGuard: Cases = {
  "a guard lets existing paths pass, and answers 404 for others": async () => {
    for (const paths of [PathFilter.parse(buildPathFilter(PATHS)), new PathSet(PATHS)]) {
      const present = ["", "/", "/about", "/about/", "//about?x=1", "/caf%c3%a9", "/blog/a/b"];
      equal(await statusesOf({ paths }, ...present), [0, 0, 0, 0, 0, 0, 0]);
      const absent = ["/abou", "/blog", "/blog%2Fa", "/wp-login.php?x=/about", "/About"];
      equal(await statusesOf({ paths }, ...absent), [404, 404, 404, 404, 404]);
    }
  },

  "a guard reads the path of a URL with any host, port and credentials": async () => {
    const guard = guardPaths({ paths: new PathSet(["/a"]) });
    for (const url of ["https://a.example:8443/a", "http://localhost/x/../a#b", "http://[::1]/a"]) {
      equal((await guard(new Request(url)))?.status, undefined, url);
    }
    equal((await guard(new Request("http://a.example?/a")))?.status, 404);
  },

  "a guard checks only GET and HEAD by default": async () => {
    const paths = new PathSet(["/a"]);
    const post = new Request("http://localhost/b", { method: "POST" });
    equal(await guardPaths({ paths })(post), undefined);
    equal((await guardPaths({ paths, methods: ["POST"] })(post))?.status, 404);
    const head = await guardPaths({ paths })(new Request("http://localhost/b", { method: "HEAD" }));
    equal([head?.status, await head?.text()], [404, ""]);
    const get = await guardPaths({ paths })(new Request("http://localhost/b"));
    equal(await get?.text(), "Not Found\n");
  },

  "a guard lets a request pass and reports the error if the check fails": async () => {
    const reported: unknown[] = [];
    const failure = new RangeError("no storage");
    const load = () => Promise.reject(failure);
    const store = new PathFilterStore({ maxBytes: 1000, load });
    const options: PathGuardOptions = {
      paths: (path) => store.canExist("dpl", path),
      onError: (error, request) => reported.push(error === failure, request.url),
    };
    equal(await statusesOf(options, "/a"), [0]);
    equal(reported, [true, "http://localhost/a"]);
    const freed = PathFilter.parse(buildPathFilter([]));
    freed.free();
    equal(await statusesOf({ paths: freed, onError: () => {} }, "/a"), [0]);
    equal(await statusesOf({ paths: () => undefined as unknown as boolean }, "/a"), [0]);
  },

  "a guard can query a store for the deployment of each request": async () => {
    const load = async (key: string) => new Response(buildPathFilter([`/${key}`]));
    const store = new PathFilterStore({ maxBytes: 1e6, load });
    const paths = (path: string, request: Request) =>
      store.canExist(new URL(request.url).searchParams.get("dpl")!, path);
    equal(await statusesOf({ paths }, "/a?dpl=a", "/a?dpl=b", "/b?dpl=b"), [0, 404, 0]);
    store.clear();
  },

  "a guard uses the given normalize and notFound functions": async () => {
    const options: PathGuardOptions = {
      paths: new PathSet(["/a?b"]),
      normalize: (path) => path.toLowerCase(),
      notFound: (request) => new Response(request.url, { status: 410 }),
    };
    equal(await statusesOf(options, "/A?b", "/a"), [0, 410]);
  },
};
