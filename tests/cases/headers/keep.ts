import { HeaderStripper } from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import type { Cases } from "../case.js";

/** Fields that an allow-list keeps without a rule. */
const ESSENTIAL = ["connection", "content-length", "host", "transfer-encoding"];

export const keep: Cases = {
  "an allow-list strips every field that no rule matches": () => {
    using stripper = new HeaderStripper(["accept", "x-app-*"], { mode: "keep" });
    const headers = new Headers({ Accept: "*/*", "X-App-Id": "1", "X-Apps": "2", cookie: "a" });
    equal(stripper.strip(headers), 2);
    equal([...headers.keys()], ["accept", "x-app-id"]);
    equal(stripper.strip(headers), 0);
    const raw = ["ACCEPT", "*/*", "x-app-", "1", "Set-Cookie", "a", "X-APP-B", "2", "x-ap", "3"];
    equal(stripper.stripRaw(raw), ["ACCEPT", "*/*", "x-app-", "1", "X-APP-B", "2"]);
    equal(raw.length, 10);
  },

  "matches says whether a rule matches, and strips whether a field is removed": () => {
    using allowed = new HeaderStripper(["accept", "x-app-*"], { mode: "keep" });
    using denied = new HeaderStripper(["accept", "x-app-*"]);
    using explicit = new HeaderStripper(["accept", "x-app-*"], { mode: "strip" });
    for (const name of ["accept", "Accept", "X-App-", "x-app-id"]) {
      equal([allowed.matches(name), allowed.strips(name)], [true, false], name);
      equal([denied.matches(name), denied.strips(name)], [true, true], name);
      equal(explicit.strips(name), true, name);
    }
    for (const name of ["", "accept-encoding", "x-app", "cookie", "x-to\u212aen", "a b"]) {
      equal([allowed.matches(name), allowed.strips(name)], [false, true], name);
      equal([denied.matches(name), denied.strips(name)], [false, false], name);
      equal(explicit.strips(name), false, name);
    }
  },

  "an allow-list keeps the fields without which a message breaks": () => {
    using stripper = new HeaderStripper([], { mode: "keep" });
    for (const name of ESSENTIAL) {
      for (const written of [name, name.toUpperCase()]) {
        equal([stripper.strips(written), stripper.matches(written)], [false, true], written);
        equal(stripper.stripRaw([written, "1", "x-a", "2"]), [written, "1"]);
      }
    }
    for (const name of ["te", "trailer", "upgrade", "content-type", "content-lengths", "hos"]) {
      equal(stripper.strips(name), true, name);
    }
  },

  "an allow-list keeps no other spelling of a name unless it is listed": () => {
    using stripper = new HeaderStripper(["x-app-user", "x-app.id"], { mode: "keep" });
    const names = ["X-App-User", "x-app_user", "x_app_user", "x-app.id", "x-app-id"];
    equal(
      names.filter((name) => !stripper.strips(name)),
      ["X-App-User", "x-app.id"],
    );
    equal(stripper.stripRaw(["x-app-user", "a", "x_app-user", "b"]), ["x-app-user", "a"]);
    equal(stripper.stripRaw(["content_length", "1", "Content-Length", "2"]), [
      "Content-Length",
      "2",
    ]);
    using exact = new HeaderStripper(["x-a"], { mode: "keep", spelling: "exact" });
    equal([exact.strips("x-a"), exact.strips("x_a")], [false, true]);
  },

  "an allow-list keeps pseudo-fields": () => {
    using stripper = new HeaderStripper(["accept"], { mode: "keep" });
    const pseudo = [":method", "GET", ":path", "/", ":status", "200", ":", "1"];
    equal(stripper.stripRaw([...pseudo, "cookie", "a", "accept", "b"]), [...pseudo, "accept", "b"]);
    equal([stripper.strips(":path"), stripper.matches(":path")], [false, false]);
  },

  "an allow-list keeps Connection and the kept fields that it nominates": () => {
    using allowed = new HeaderStripper(["x-hop", "te"], { mode: "keep" });
    const raw = ["Connection", "x-hop, x-b, host", "x-hop", "1", "x-b", "2", "Host", "a"];
    const kept = ["Connection", "x-hop, x-b, host", "x-hop", "1", "Host", "a"];
    equal(allowed.stripRaw(raw), kept);
    const headers = new Headers({ connection: "x-hop, x-b", "x-hop": "1", "x-b": "2" });
    equal(allowed.strip(headers), 1);
    equal([...headers.keys()], ["connection", "x-hop"]);
    // A second stripper removes them on purpose, and still refuses forbidden nominations.
    using hops = new HeaderStripper(["connection"]);
    equal(hops.strip(headers), 2);
    refused(() => hops.stripRaw(kept), "ERR_CONNECTION_OPTION", "nominates host,");
  },

  "an allow-list may have rules for the fields that it keeps anyway": () => {
    using stripper = new HeaderStripper(["Host", "conn*", "host"], { mode: "keep" });
    equal(stripper.stripRaw(["host", "a", "connect", "b", "cookie", "c"]), [
      ...["host", "a", "connect", "b"],
    ]);
  },

  "rules may be as many with as without an allow-list, including the four that it has": () => {
    const rules = Array.from({ length: 32_768 }, (_, number) => `x-${number}`);
    using stripper = new HeaderStripper(rules.slice(4), { mode: "keep" });
    equal([stripper.strips("x-32767"), stripper.strips("x-0")], [false, true]);
    refused(() => new HeaderStripper(rules, { mode: "keep" }), "ERR_HEADER_RULE", "rule 32764");
  },

  "an unknown mode or spelling is refused": () => {
    const wrong = [
      { mode: "drop" },
      { mode: null },
      { mode: 7 },
      { Mode: "keep" },
      { spelling: "folded" },
      { mode: "keep", spelling: "equivalent" },
      null,
      "keep",
      [],
    ];
    for (const options of wrong) {
      const expected = 'expected { mode: "keep" } or { spelling: "exact" }, found ';
      refused(() => new HeaderStripper(["x-a"], options as never), "ERR_ARGUMENT", expected);
    }
    using stripper = new HeaderStripper(["x-a"], { mode: undefined } as never);
    equal(stripper.strips("x-a"), true);
  },

  "a freed allow-list throws instead of keeping or stripping a field": () => {
    const stripper = new HeaderStripper(["x-a"], { mode: "keep" });
    stripper.free();
    for (const use of [
      () => stripper.strips("x-a"),
      () => stripper.strip(new Headers({ "x-b": "1" })),
      () => stripper.stripRaw([]),
    ]) {
      refused(use, "ERR_FREED", "HeaderStripper was used after free()");
    }
  },
};
