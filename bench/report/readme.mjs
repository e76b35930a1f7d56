// README's figures: a table for each job, and those within its text.
import { outcomeOf } from "./claims/claim.mjs";
import { TABLES } from "./claims/index.mjs";
import { suiteOf } from "./figures.mjs";
import { markdown, missing, ratio, withUnit } from "./format.mjs";
import { inText } from "./in-text.mjs";
import { machineOf } from "./source.mjs";

/** @typedef {import("./figures.mjs").Figures} Figures */
/** @typedef {import("./claims/claim.mjs").Claim} Claim */

/** @param {Figures} figures @returns {Map<string, string>} by the names of their marks */
export function readmeOf(figures) {
  const tables = Object.entries(TABLES).map(
    ([name, claims]) =>
      /** @type {const} */ ([
        `figures: ${name}`,
        tableOf(figures, claims) + sourcesOf(figures, claims),
      ]),
  );
  return new Map([...tables, ...inText(figures)]);
}

/** @param {Figures} figures @param {Claim[]} claims */
function tableOf(figures, claims) {
  const outcomes = claims.map((claim) => ({ claim, ...outcomeOf(claim, figures.find) }));
  const rows = outcomes.flatMap(({ claim, own, rivals }) => {
    if (own === undefined) return [];
    const others = rivals
      .filter(({ times }) => !Number.isNaN(times))
      .map(({ says, times }) => `${says} ${ratio(times)}`);
    return [[claim.says, withUnit(own.median, own.unit), others.join(", ")]];
  });
  const lacks = outcomes.flatMap(({ claim, own, rivals }) =>
    own === undefined ? [claim.says] : withoutResult(rivals).map((one) => `${claim.says}, ${one}`),
  );
  const note = lacks.length === 0 ? "" : `${missing(lacks)}\n`;
  if (rows.length === 0) return note;
  const table = markdown(["", "hedgerow", "beside it, times as much"], rows);
  return `${table.replace("--:|--:|", "--:|---|")}\n${note}`;
}

/** @param {{ says: string, times: number }[]} rivals */
const withoutResult = (rivals) =>
  rivals.filter(({ times }) => Number.isNaN(times)).map(({ says }) => `beside ${says}`);

/** Where claims are recorded: their runs, each once. @param {Figures} figures @param {Claim[]} claims */
function sourcesOf(figures, claims) {
  /** @type {Map<string, Set<string>>} */
  const suites = new Map();
  for (const { key } of claims) {
    const record = figures.record(key[0]);
    if (record === undefined) continue;
    const smoke = record.quick === true ? ", a smoke run" : "";
    const run = `${machineOf(record.machine)}, ${record.date.slice(0, 10)}${smoke}`;
    suites.set(run, (suites.get(run) ?? new Set()).add(suiteOf(key[0])));
  }
  const said = [...suites].map(([run, of]) => {
    return suites.size === 1 ? run : `${[...of].join(" and ")}: ${run}`;
  });
  return said.length === 0 ? "" : `*${said.join("; ")}.*\n`;
}
