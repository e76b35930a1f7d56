/** The fields that sites need, and why. */

/** The kind of message that a list is for. */
export type Direction = "requests" | "responses";

/** A field that a site needs in one direction. */
export interface Need {
  readonly field: string;
  readonly direction: Direction;
  readonly reason: string;
  /** Whether only some sites need it, so that an allow-list may lack it. */
  readonly isOptional: boolean;
}

type Reasons = Readonly<Record<string, string>>;

const FRAMING: Reasons = {
  "content-length": "it frames the body",
  "transfer-encoding": "it frames the body",
};

const CONTENT: Reasons = {
  "content-type": "it says what the body is",
  "content-encoding": "it says how to decompress the body",
};

const WEB_SOCKETS: Reasons = {
  upgrade: "WebSockets need it",
  "sec-websocket-extensions": "WebSockets need it",
  "sec-websocket-protocol": "WebSockets need it",
};

const REQUESTS: Reasons = {
  ...FRAMING,
  ...CONTENT,
  host: "it names the site; servers reject HTTP/1.1 requests without it",
  authorization: "it authenticates the client",
  cookie: "it carries the session",
  origin: "servers compare it to reject requests of other sites",
};

const SOME_REQUESTS: Reasons = {
  ...WEB_SOCKETS,
  "sec-websocket-key": "WebSockets need it",
  "sec-websocket-version": "WebSockets need it",
  "access-control-request-headers": "CORS preflight requests need it",
  "access-control-request-method": "CORS preflight requests need it",
  "next-action": "Server Actions of Next.js need it",
  "next-router-prefetch": "client navigation of Next.js needs it",
  "next-router-segment-prefetch": "client navigation of Next.js needs it",
  "next-router-state-tree": "client navigation of Next.js needs it",
  "next-url": "client navigation of Next.js needs it",
  rsc: "client navigation of Next.js needs it",
};

const RESPONSES: Reasons = {
  ...FRAMING,
  ...CONTENT,
  "cache-control": "without it, caches may store private responses",
  "content-range": "it says which part of a file a partial response has",
  location: "redirects need it",
  "set-cookie": "it starts and ends sessions",
  vary: "without it, caches confuse variants of a page",
  "www-authenticate": "it tells clients how to authenticate",
};

const SOME_RESPONSES: Reasons = {
  ...WEB_SOCKETS,
  "sec-websocket-accept": "WebSockets need it",
  "access-control-allow-credentials": "it allows other sites to read the response",
  "access-control-allow-headers": "it allows other sites to send requests",
  "access-control-allow-methods": "it allows other sites to send requests",
  "access-control-allow-origin": "it allows other sites to read the response",
  "content-disposition": "it makes a response a download",
  "content-security-policy": "it limits what scripts of the page can do",
  "strict-transport-security": "it makes browsers use HTTPS",
  "x-content-type-options": "it keeps browsers from guessing what a response is",
  "x-frame-options": "it keeps other sites from embedding the page",
  "x-action-redirect": "Server Actions of Next.js need it",
  "x-action-revalidated": "Server Actions of Next.js need it",
  "x-matched-path": "client navigation of Next.js needs it",
  "x-middleware-cache": "client navigation of Next.js needs it",
  "x-middleware-skip": "client navigation of Next.js needs it",
  "x-nextjs-action-not-found": "Server Actions of Next.js need it",
  "x-nextjs-matched-path": "client navigation of Next.js needs it",
  "x-nextjs-postponed": "client navigation of Next.js needs it",
  "x-nextjs-prerender": "client navigation of Next.js needs it",
  "x-nextjs-redirect": "client navigation of Next.js needs it",
  "x-nextjs-rewrite": "client navigation of Next.js needs it",
  "x-nextjs-rewritten-path": "client navigation of Next.js needs it",
  "x-nextjs-rewritten-query": "client navigation of Next.js needs it",
  "x-nextjs-stale-time": "client navigation of Next.js needs it",
};

/** All needs, those of requests first. */
export const NEEDS: readonly Need[] = [
  ...needsOf("requests", REQUESTS, false),
  ...needsOf("requests", SOME_REQUESTS, true),
  ...needsOf("responses", RESPONSES, false),
  ...needsOf("responses", SOME_RESPONSES, true),
];

function needsOf(direction: Direction, reasons: Reasons, isOptional: boolean): Need[] {
  return Object.entries(reasons).map(([field, reason]) => ({
    field,
    direction,
    reason,
    isOptional,
  }));
}
