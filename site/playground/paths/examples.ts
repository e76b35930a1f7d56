/** Paths to begin with. */
const SITE = `/
/about
/blog
/blog/first-post
/blog/second-post
/caf%C3%A9
/assets/app.js
/assets/style.css
/favicon.ico
/robots.txt`;

const SHOP = [
  "/",
  "/cart",
  "/api/*",
  ...Array.from({ length: 5000 }, (_, number) => `/products/${number * 7919}`),
].join("\n");

/** Says that it has 2^32 − 1 bits, and has 24. */
const FORGED = `{"version":"","bloom":{"n":1,"p":1e-7,"m":4294967295,"k":23,"s":0}}
"////"`;

/** A path to ask for, and what the rest begins with: paths, or the text of a filter. */
export const EXAMPLES = [
  { name: "5,000 products", paths: SHOP, kind: "bloom", exponent: "7", query: "/wp-login.php" },
  { name: "A small site", paths: SITE, kind: "bloom", exponent: "7", query: "/blog/first-post" },
  { name: "The same, fuse", paths: SHOP, kind: "fuse", exponent: "7", query: "/products/7919" },
  { name: "A rate of 10 %", paths: SHOP, kind: "bloom", exponent: "1", query: "/products/1" },
  { name: "A forged filter", paths: FORGED, kind: "bloom", exponent: "7", query: "/" },
] as const;
