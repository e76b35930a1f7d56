/** Messages and rules to begin with. */
const CURL = `> GET /api/me HTTP/1.1
> Host: shop.example
> User-Agent: curl/8.14.1
> Accept: */*
> X-Internal-User: 1
> X-Debug-Token: let-me-in
>
< HTTP/1.1 200 OK
< Content-Type: application/json
< X-Internal-Trace: 7f3a
< Cache-Control: no-store
`;

const NEXT = `GET /dashboard HTTP/1.1
Host: app.example
Accept: text/html
X-Middleware-Subrequest: middleware:middleware:middleware
X-Nextjs-Data: 1
Cookie: session=1
`;

const NOMINATED = `GET / HTTP/1.1
Host: a.example
Connection: keep-alive, X-Trace
Keep-Alive: timeout=5
X-Trace: 7
TE: trailers
`;

const ALLOWED = `POST /orders HTTP/1.1
Host: shop.example
Content-Type: application/json
Content-Length: 12
Cookie: session=1
X-App-Version: 4
X-Forwarded-For: 203.0.113.7
`;

const BARE_CR = `GET / HTTP/1.1
Host: a.example
Accept: */*\\rX-Internal-User: 1
`;

const SMUGGLED = `GET / HTTP/1.1
Host: a.example
Connection: close, Content-Length
Content-Length: 5
`;

export const EXAMPLES = [
  {
    name: "curl -v",
    message: CURL,
    rules: "x-internal-*\nx-debug-token",
    presets: "",
    mode: "strip",
  },
  { name: "Next.js", message: NEXT, rules: "", presets: "next", mode: "strip" },
  { name: "Connection", message: NOMINATED, rules: "", presets: "hop-by-hop", mode: "strip" },
  {
    name: "Allow-list",
    message: ALLOWED,
    rules: "content-type\ncookie\nx-app-*",
    presets: "",
    mode: "keep",
  },
  { name: "Bare CR", message: BARE_CR, rules: "x-internal-*", presets: "", mode: "strip" },
  {
    name: "Content-Length nominated",
    message: SMUGGLED,
    rules: "",
    presets: "hop-by-hop",
    mode: "strip",
  },
] as const;
