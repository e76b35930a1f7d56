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
  "each preset is a list of different rules that a stripper takes": () => {
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

  "the preset hop-by-hop leaves what frames or upgrades a message": () => {
    using stripper = new HeaderStripper(preset("hop-by-hop"));
    const left = ["content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"];
    equal(
      left.filter((name) => stripper.matches(name)),
      [],
    );
  },

  "the preset next matches the header that skips middleware": () => {
    using stripper = new HeaderStripper(preset("next"));
    equal(stripper.matches("x-middleware-subrequest"), true);
  },

  "presets may be given together, with other rules": () => {
    using stripper = new HeaderStripper([...preset("next"), ...preset("vercel"), "x-debug"]);
    const names = ["x-matched-path", "x-vercel-id", "x-debug", "accept"];
    equal(
      names.filter((name) => stripper.matches(name)),
      ["x-matched-path", "x-vercel-id", "x-debug"],
    );
  },

  "each call gives a list of its own": () => {
    preset("next").length = 0;
    equal(preset("next").length > 0, true);
  },

  "a name that no preset has is refused": () => {
    for (const name of ["", "Next", "next,", "toString", "\ud800"]) {
      refused(() => preset(name as PresetName), "ERR_ARGUMENT", "expected the name of a preset");
    }
  },

  "a preset name that is no string is refused": () => {
    for (const name of [undefined, null, 7, {}, ["next"], Symbol("next")]) {
      refused(() => preset(name as PresetName), "ERR_ARGUMENT", "expected the name of a preset");
    }
  },
};
