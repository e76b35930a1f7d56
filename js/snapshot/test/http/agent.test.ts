/** Which hosts are reached without the proxy of the environment. */
import { afterEach, expect, test, vi } from "vitest";

import { proxyFor } from "../../src/http/agent.js";

const PROXY = "http://proxy.example:3128";

afterEach(() => void vi.unstubAllEnvs());

/** Returns whether a URL is reached through the proxy. */
function isProxied(url: string, noProxy = ""): boolean {
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"]) {
    const value = name === "NO_PROXY" ? noProxy : PROXY;
    vi.stubEnv(name, value);
    vi.stubEnv(name.toLowerCase(), value);
  }
  return proxyFor(new URL(url)) !== undefined;
}

test.each([
  "localhost",
  "LOCALHOST",
  "localhost.",
  "a.localhost",
  "a.b.localhost.",
  "127.0.0.1",
  "127.1.2.3",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:127.255.255.255]",
])("reaches the loopback host %s without the proxy", (host) => {
  expect(isProxied(`http://${host}/a.vhs`)).toBe(false);
  expect(isProxied(`https://${host}:9000/a.vhs`)).toBe(false);
});

test.each([
  "localhost.example",
  "notlocalhost",
  "localhost..",
  ".localhost",
  "a..localhost",
  "127.0.0.1.example",
  "128.0.0.1",
  "126.255.255.255",
  "0.0.0.0",
  "[::]",
  "[::2]",
  "[::127.0.0.1]",
  "[::ffff:128.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
])("reaches %s, which is no loopback host, through the proxy", (host) => {
  expect(isProxied(`http://${host}/a.vhs`)).toBe(true);
});

test.each([
  ["fd00::1", "[fd00::1]"],
  ["[fd00::1]", "[fd00::1]"],
  ["FD00:0:0::1", "[fd00::1]"],
  ["a.example, fd00::1 b.example", "[fd00::1]"],
  ["fd00::1:8080", "[fd00::1:8080]"],
  ["[fd00::1]:9000", "[fd00::1]:9000"],
  ["[fd00::1]:80", "[fd00::1]"],
  ["FD00::1", "[fd00::1]:9000"],
  ["*", "[fd00::1]"],
])("NO_PROXY=%s exempts http://%s", (noProxy, host) => {
  expect(isProxied(`http://${host}/a.vhs`, noProxy)).toBe(false);
});

test.each([
  ["fd00::1", "[fd00::2]"],
  ["fd00::1", "[fd00::1:1]"],
  ["fd00::", "[fd00::1]"],
  ["[fd00::1]:9000", "[fd00::1]"],
  ["[fd00::1]:9000", "[fd00::1]:9001"],
  ["fd00::1:8080", "[fd00::1]:8080"],
  ["[fd00::1", "[fd00::1]"],
  ["fd00::1%eth0", "[fd00::1]"],
])("NO_PROXY=%s does not exempt http://%s", (noProxy, host) => {
  expect(isProxied(`http://${host}/a.vhs`, noProxy)).toBe(true);
});

test("prefers no_proxy to NO_PROXY for IPv6 addresses, as for other hosts", () => {
  vi.stubEnv("HTTP_PROXY", PROXY);
  vi.stubEnv("http_proxy", PROXY);
  vi.stubEnv("no_proxy", "fd00::2");
  vi.stubEnv("NO_PROXY", "fd00::1");
  expect(proxyFor(new URL("http://[fd00::1]/"))).toBeDefined();
  expect(proxyFor(new URL("http://[fd00::2]/"))).toBeUndefined();
});
