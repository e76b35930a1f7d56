/** Quirks of services, as faults of a proxy before a service that has none. */
import type { InjectFault, ProxyFault } from "../../../../tests/support/snapshots/proxy.js";

type Asked = Parameters<InjectFault>[0];
type Is = (asked: Asked) => boolean;

/** Returns a refusal of S3. */
export function refused(status: number, code: string, more = "", message = "no"): ProxyFault {
  const body = `<Error><Code>${code}</Code><Message>${message}</Message>${more}</Error>`;
  return { status, headers: { "content-type": "application/xml" }, body };
}

/** Does something to the first request of each kind and object. */
function onceEach(is: Is, faultOf: (count: number) => ProxyFault): InjectFault {
  const seen = new Set<string>();
  return (asked) => {
    const request = `${asked.method} ${asked.url}`;
    if (!is(asked) || seen.has(request)) return undefined;
    seen.add(request);
    return faultOf(seen.size);
  };
}

const isWrite: Is = ({ method }) => ["PUT", "POST", "DELETE"].includes(method ?? "");
const isList: Is = ({ method, url = "" }) =>
  method === "GET" && /[?&](list-type|uploads)\b/.test(url);
const isXml: Is = (asked) => asked.method === "POST" || isList(asked);

/** Changes the body of responses. */
const changing =
  (is: Is, change: (text: string) => string): InjectFault =>
  (asked) =>
    is(asked)
      ? {
          change: (body) => Buffer.from(change(body.toString())),
        }
      : undefined;

/** Cuts lists after the first object, whose key `change` gets. */
const pagesOfOne = (change: (page: string, key: string) => string): InjectFault =>
  changing(isList, (text) => {
    const [first = "", ...others] = text.match(/<Contents>.*?<\/Contents>/gs) ?? [];
    if (others.length === 0) return text;
    const [, key = ""] = /<Key>(.*?)<\/Key>/.exec(first) ?? [];
    return change(text.replace(/<Contents>.*<\/Contents>/s, first), key);
  });

/** Carries out the first write of a snapshot when it has refused three others. */
function oneWriterAtATime(): InjectFault {
  let [count, release] = [0, () => {}];
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  return ({ method, url = "" }) => {
    if (method !== "PUT" || !url.includes(".vhs")) return undefined;
    count += 1;
    if (count === 1) return { hold };
    if (count === 4) release();
    return count > 4 ? undefined : refused(409, "OperationAborted");
  };
}

/** The statuses of services that are busy or fail. */
const BUSY = [503, 429, 500, 408];

/** How far a clock is wrong, in milliseconds. */
const DAYS = 3 * 86_400_000;

/** A service whose clock differs from that of the host. */
export const isDaysAhead = (): InjectFault => () => ({
  headers: { date: new Date(Date.now() + DAYS).toUTCString() },
});

const refusesSuffixes = (status: number) => (): InjectFault => (asked) =>
  /^bytes=-/.test(asked.headers.range ?? "") ? { status } : undefined;

/** Quirks of any service. */
export const QUIRKS = {
  "a failure for each request, once": () =>
    onceEach(
      () => true,
      (count) => ({ status: BUSY[count % BUSY.length] ?? 0, headers: { "retry-after": "0" } }),
    ),
  "a lost response for each request, once": () =>
    onceEach(
      () => true,
      () => ({ loseResponse: true }),
    ),
  "a list and a description of each object that are cut off, once": () =>
    onceEach(
      ({ method, url = "" }) => method === "GET" && /[?&](list-type|comp=list)|\/b\//.test(url),
      () => ({ change: (body) => body.subarray(0, body.length / 2) }),
    ),
  "no Content-Length": () => (asked: Asked) =>
    asked.method === "GET" ? { change: (body) => body } : undefined,
  "no suffix ranges: 400": refusesSuffixes(400),
  "no suffix ranges: 416": refusesSuffixes(416),
  "no suffix ranges: 501": refusesSuffixes(501),
} satisfies Record<string, () => InjectFault>;

/** Quirks of services that speak S3. */
export const S3_QUIRKS = {
  "a conflict for each write, once": () =>
    onceEach(isWrite, (count) =>
      refused(409, count % 2 === 0 ? "OperationAborted" : "ConditionalRequestConflict"),
    ),
  "damage of each upload, once": () =>
    onceEach(
      ({ method }) => method === "PUT",
      (count) => refused(400, count % 2 === 0 ? "BadDigest" : "IncompleteBody"),
    ),
  "a list that is cut off, once": () =>
    onceEach(isList, () => ({ change: (body) => body.subarray(0, body.length / 2) })),
  "an empty response in place of a list, once": () =>
    onceEach(isList, () => ({ change: () => Buffer.alloc(0) })),
  "an upload whose XML is cut off, once": () =>
    onceEach(
      (asked) => isXml(asked) && !asked.url?.includes("?uploads"),
      () => ({ change: (body) => body.subarray(0, body.length / 2) }),
    ),
  "an empty continuation token": () =>
    changing(isList, (text) =>
      text.replace("</ListBucketResult>", "<NextContinuationToken/></ListBucketResult>"),
    ),
  "pages of one object, without continuation tokens": () =>
    pagesOfOne((page) => page.replace("<IsTruncated>false", "<IsTruncated>true")),
  "pages of one object, without IsTruncated": () =>
    pagesOfOne((page, key) =>
      page.replace(
        "<IsTruncated>false</IsTruncated>",
        `<NextContinuationToken>${key}</NextContinuationToken>`,
      ),
    ),
  "no Content-Length": () => (asked: Asked) =>
    asked.method === "GET" || asked.method === "HEAD" ? { change: (body) => body } : undefined,
  "one writer at a time": oneWriterAtATime,
} satisfies Record<string, () => InjectFault>;

export type S3Quirk = keyof typeof S3_QUIRKS;
