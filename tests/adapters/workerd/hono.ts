/** A Hono app behind the adapter. */
import { hedgerow } from "hedgerow/hono";
import { Hono } from "hono";
import { answer, OPTIONS } from "./answer.js";

export default new Hono().use(hedgerow(OPTIONS)).all("/*", (c) => answer(c.req.raw));
