import { HeaderStripper, type PresetName, preset } from "hedgerow";
import { equal, refused } from "../../support/assert.js";
import type { Cases } from "../case.js";

/** A name that each preset matches. */
const EXAMPLES: Readonly<Record<PresetName, string>> = {
  "hop-by-hop": "Keep-Alive",
  "hop-by-hop-reframed": "Transfer-Encoding",
  cloudflare: "CF-Connecting-IP",
  vercel: "X-Vercel-Forwarded-For",
  next: "X-Middleware-Subrequest",
};

export const presets: Cases = {
  "every preset is a list of distinct valid rules": () => {
    for (const [name, example] of Object.entries(EXAMPLES)) {
      const rules = preset(name as PresetName);
      equal(new Set(rules).size, rules.length, `different rules of ${name}`);
      using stripper = new HeaderStripper(rules);
      const names = rules.map((rule) => rule.replace("*", "anything"));
      const missed = [...names, example].filter((candidate) => !stripper.matches(candidate));
      equal(missed, [], `missed by ${name}`);
      equal(stripper.matches("accept"), false, `${name} matches accept`);
    }
  },

  "the preset hop-by-hop keeps the fields that frame or upgrade a message": () => {
    using stripper = new HeaderStripper(preset("hop-by-hop"));
    const left = ["content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"];
    equal(
      left.filter((name) => stripper.matches(name)),
      [],
    );
  },

  "the preset cloudflare matches what applications trust as identity, address, location and score":
    () => {
      using stripper = new HeaderStripper(preset("cloudflare"));
      const trusted = [
        ...["Cf-Access-Authenticated-User-Email", "Cf-Access-Jwt-Assertion"],
        ...["cf-cert-verified", "cf-cert-subject-dn-rfc2253", "cf-cert-sha256"],
        ...["Cf-Client-Cert-Der-Base64", "Cf-Client-Cert-Sha256"],
        ...["cf-connecting-ip", "cf-connecting-ipv6", "cf-pseudo-ipv4", "true-client-ip"],
        ...["cf-ipcity", "cf-ipcountry", "cf-ipcontinent", "cf-iplongitude", "cf-iplatitude"],
        ...["cf-region", "cf-region-code", "cf-metro-code", "cf-postal-code", "cf-timezone"],
        ...["cf-bot-score", "cf-verified-bot", "cf-threat-score", "cf-ja3-hash", "cf-ja4"],
        ...["Exposed-Credential-Check", "Malicious-Uploads-Detection"],
      ];
      equal(
        trusted.filter((name) => !stripper.matches(name)),
        [],
        "missed",
      );
    },

  "the preset cloudflare keeps the fields by which clients log in to Access": () => {
    using stripper = new HeaderStripper(preset("cloudflare"));
    const sent = ["cf-access-client-id", "cf-access-client-secret", "cf-access-token"];
    equal(
      sent.filter((name) => stripper.matches(name)),
      [],
    );
  },

  "the preset next matches the field that skips middleware": () => {
    using stripper = new HeaderStripper(preset("next"));
    equal(stripper.matches("x-middleware-subrequest"), true);
  },

  "the preset next matches request fields that only a Next.js server may set": () => {
    for (const rules of [preset("next"), preset("next", "requests")]) {
      using stripper = new HeaderStripper(rules);
      const names = ["x-nextjs-data", "next-resume", "x-next-resume-state-length"];
      const others = ["x-nextjs-request-id", "x-nextjs-html-request-id", "x-now-route-matches"];
      const missed = [...names, ...others].filter((name) => !stripper.matches(name));
      equal(missed, [], "missed");
    }
  },

  "the preset next matches every field by which Next.js hands on what its proxy decided": () => {
    using stripper = new HeaderStripper(preset("next", "requests"));
    const decisions = preset("next", "responses").map((rule) => rule.replace("*", "cookie"));
    const others = ["x-middleware-skip", "x-middleware-invoke", "x-invoke-status", "x-invoke-path"];
    const missed = [...decisions, ...others].filter((name) => !stripper.matches(name));
    equal(missed, []);
  },

  "the preset next keeps request fields that the client of Next.js sends": () => {
    using stripper = new HeaderStripper(preset("next", "requests"));
    const sent = [
      ...["x-middleware-prefetch", "purpose", "x-deployment-id"],
      ...["rsc", "next-url", "next-action", "next-router-state-tree"],
      ...["next-router-prefetch", "next-router-segment-prefetch", "next-hmr-refresh"],
    ];
    equal(
      sent.filter((name) => stripper.matches(name)),
      [],
    );
  },

  "the preset next keeps response fields that client navigation reads": () => {
    using stripper = new HeaderStripper(preset("next", "responses"));
    const internal = ["x-middleware-set-cookie", "x-middleware-request-cookie"];
    equal(
      internal.every((name) => stripper.matches(name)),
      true,
    );
    const read = ["x-nextjs-rewrite", "x-nextjs-redirect", "x-middleware-skip", "x-matched-path"];
    equal(
      read.filter((name) => stripper.matches(name)),
      [],
    );
  },

  "presets other than next have the same rules for both directions": () => {
    for (const name of ["hop-by-hop", "cloudflare", "vercel"] as const) {
      equal(preset(name, "responses"), preset(name, "requests"), name);
      equal(preset(name, undefined), preset(name), name);
    }
  },

  "preset refuses an unknown direction": () => {
    for (const direction of ["", "Requests", "response", null, 7, {}, Symbol("requests")]) {
      const call = () => preset("next", direction as "requests");
      refused(call, "ERR_ARGUMENT", 'expected "requests" or "responses"');
    }
  },

  "presets can be combined with each other and with other rules": () => {
    using stripper = new HeaderStripper([...preset("next"), ...preset("vercel"), "x-debug"]);
    const names = ["x-matched-path", "x-vercel-id", "x-debug", "accept"];
    equal(
      names.filter((name) => stripper.matches(name)),
      ["x-matched-path", "x-vercel-id", "x-debug"],
    );
  },

  "preset returns a new list on each call": () => {
    preset("next").length = 0;
    equal(preset("next").length > 0, true);
  },

  "preset refuses an unknown name": () => {
    for (const name of ["", "Next", "next,", "toString", "\ud800"]) {
      refused(() => preset(name as PresetName), "ERR_ARGUMENT", "expected the name of a preset");
    }
  },

  "preset refuses a name that is not a string": () => {
    for (const name of [undefined, null, 7, {}, ["next"], Symbol("next")]) {
      refused(() => preset(name as PresetName), "ERR_ARGUMENT", "expected the name of a preset");
    }
  },
};
