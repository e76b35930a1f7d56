// The index page of the API docs.

/** @typedef {{ name: string, version: string, description: string, href: string }} Documented */

/**
 * Renders the page as HTML.
 *
 * @param {{ title: string, packages: Documented[] }[]} groups
 */
export function indexPage(groups) {
  const sections = groups.map(
    ({ title, packages }) => `<h2>${escaped(title)}</h2>
<dl>
${packages.map(entry).join("\n")}
</dl>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Hedgerow: API</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
dt { font-family: ui-monospace, monospace; margin-top: 1rem; }
dd { margin: 0; }
</style>
<h1>Hedgerow: API</h1>
${sections.join("\n")}
</html>
`;
}

/** @param {Documented} documented */
function entry({ name, version, description, href }) {
  return `<dt><a href="${escaped(href)}">${escaped(name)}</a> ${escaped(version)}</dt>
<dd>${escaped(description)}</dd>`;
}

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
