// Licence expressions of SPDX, as packages have them: names, `AND`, `OR`, `WITH` and parentheses. `/` is how
// crates once wrote `OR`.

/**
 * The licences to take something under, of those that its expression leaves a choice of; `undefined` if one of
 * them is not allowed, whatever is chosen.
 *
 * @param {string} expression
 * @param {Iterable<string>} allowed names, those of exceptions included ("A WITH B"), the preferred ones first
 */
export function chosen(expression, allowed) {
  const ranks = [...allowed];
  const text = expression.replaceAll("/", " OR ");
  const tokens = text.match(/[()]|[\w.+-]+(?: WITH [\w.-]+)?/g) ?? [];
  let at = 0;
  /** @returns {string[] | undefined} */
  const either = () => {
    let result = both();
    while (tokens[at] === "OR") {
      at += 1;
      result = better(result, both(), ranks);
    }
    return result;
  };
  const both = () => {
    let result = one();
    while (tokens[at] === "AND") {
      at += 1;
      const other = one();
      result = result && other && [...new Set([...result, ...other])];
    }
    return result;
  };
  const one = () => {
    const token = tokens[at] ?? "";
    at += 1;
    if (token !== "(") return ranks.includes(token) ? [token] : undefined;
    const result = either();
    const isClosed = tokens[at] === ")";
    at += 1;
    return isClosed ? result : undefined;
  };
  const result = either();
  return at === tokens.length ? result : undefined;
}

/**
 * Of two choices that whose least preferred licence is preferred.
 *
 * @param {string[] | undefined} a
 * @param {string[] | undefined} b
 * @param {string[]} ranks
 */
function better(a, b, ranks) {
  if (a === undefined || b === undefined) return a ?? b;
  const rank = (/** @type {string[]} */ names) =>
    Math.max(...names.map((name) => ranks.indexOf(name)));
  return rank(b) < rank(a) ? b : a;
}
