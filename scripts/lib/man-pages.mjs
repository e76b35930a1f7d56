// Writes a man page for each command of the command line to the folder `man` of its `dist`.
import { mkdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { inRoot } from "./paths.mjs";

/** @typedef {import("commander").Command} Command */

const DIST = inRoot("js", "cli", "dist");

const { program } = await import(pathToFileURL(`${DIST}/program.js`).href);
const hedgerow = await program();
mkdirSync(`${DIST}/man`);
writePages(hedgerow, ["hedgerow"]);

/** Writes the page of a command, and of those below it. @param {Command} command @param {string[]} path */
function writePages(command, path) {
  writeFileSync(`${DIST}/man/${path.join("-")}.1`, pageOf(command, path));
  for (const below of command.commands) writePages(below, [...path, below.name()]);
}

/** @param {Command} command @param {string[]} path */
function pageOf(command, path) {
  const help = command.createHelp();
  const name = path.join("-");
  const pages = [
    ...(path.length > 1 ? [path.slice(0, -1)] : []),
    ...command.commands.map((below) => [...path, below.name()]),
  ];
  return [
    `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`hedgerow ${hedgerow.version()}`)} Hedgerow\n`,
    section("Name", `${escaped(name)} \\- ${escaped(command.description())}`),
    section("Synopsis", escaped(help.commandUsage(command))),
    entries("Arguments", help.visibleArguments(command), (argument) => [
      help.argumentTerm(argument),
      help.argumentDescription(argument),
    ]),
    entries("Commands", help.visibleCommands(command), (below) => [
      help.subcommandTerm(below),
      help.subcommandDescription(below),
    ]),
    entries("Options", help.visibleOptions(command), (option) => [
      help.optionTerm(option),
      help.optionDescription(option),
    ]),
    ...sectionsAfter(command),
    section("See also", pages.map((page) => `.BR ${escaped(page.join("-"))} (1)`).join(",\n")),
  ].join("");
}

/** Returns the text that follows the options in the help: its paragraphs, some with a title. @param {Command} command */
function sectionsAfter(command) {
  let output = "";
  command.configureOutput({ writeOut: (text) => (output += text) }).outputHelp();
  const [, after = ""] = output.split(command.helpInformation());
  return after
    .trim()
    .split(/\n\n+/)
    .map((paragraph) => {
      const [, title = "Notes", body = paragraph] =
        /^([A-Z][^:.,\n]{0,40}):\n( .*)$/s.exec(paragraph) ?? [];
      // Lists are indented, and keep their lines.
      const isList = /^ /m.test(body);
      return section(title, isList ? `.nf\n${escaped(body)}\n.fi` : escaped(body));
    });
}

/** @param {string} title @param {string} body in roff */
function section(title, body) {
  return body === "" ? "" : `.SH ${quoted(title.toUpperCase())}\n${body}\n`;
}

/**
 * A section with a list of terms and descriptions.
 *
 * @template T
 * @param {string} title
 * @param {readonly T[]} items
 * @param {(item: T) => [term: string, description: string]} describe
 */
function entries(title, items, describe) {
  const lines = items.map((item) => {
    const [term, description] = describe(item);
    return `.TP\n.B ${escaped(term)}\n${escaped(description)}`;
  });
  return section(title, lines.join("\n"));
}

/** Escapes the special characters of roff. @param {string} text */
function escaped(text) {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");
}

/** Returns an argument of a request. @param {string} text */
function quoted(text) {
  return `"${escaped(text).replaceAll('"', '""')}"`;
}
