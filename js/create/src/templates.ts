/** The templates: examples of the repository, which the build copies to `dist/templates`. */
export const TEMPLATES = {
  worker: "Cloudflare Worker in front of an origin",
  next: "Next.js site with a proxy",
  hono: "Hono app, on Node and as a worker",
  express: "Express server",
  fastify: "Fastify API",
  sandbox: "virtual machines that persist in a store",
} as const;

export type Template = keyof typeof TEMPLATES;

export const isTemplate = (name: string): name is Template => Object.hasOwn(TEMPLATES, name);
