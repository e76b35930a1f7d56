/** What all adapters share: their options, and what is made of these once. */
import { HedgerowError } from "../error.js";
import { HeaderStripper } from "../headers/header-stripper.js";
import { checkOptions, FUNCTION, type Kind } from "../options.js";
import {
  PATH_CHECK_KINDS,
  type PathCheck,
  type PathCheckOptions,
  type Paths,
  pathCheck,
} from "../paths/path-check.js";

/** Rules as `HeaderStripper` takes them, or a stripper that was made of them. */
export type HeaderRules = Iterable<string> | HeaderStripper;

/** What every adapter is made with; at least `headers` or `paths`. */
export interface AdapterOptions<Asked> extends Partial<PathCheckOptions<Asked>> {
  /** What is stripped from requests and from responses: the same rules, or rules for each. */
  headers?:
    | HeaderRules
    | {
        /** What is stripped from requests. */
        requests?: HeaderRules;
        /** What is stripped from responses. */
        responses?: HeaderRules;
      };
  /** The paths that exist (default: no request is turned away for its path). */
  paths?: Paths<Asked>;
}

/** The fields that say where the body of a request ends. */
const FRAMING = ["content-length", "transfer-encoding"];

/** Options, read once. What is `undefined` is not done. */
export interface Adapter<Asked> {
  readonly requests: HeaderStripper | undefined;
  readonly responses: HeaderStripper | undefined;
  readonly passes: PathCheck<Asked> | undefined;
}

const KINDS: Record<string, Kind> = {
  headers: [
    "rules, a HeaderStripper, or { requests, responses }",
    (value) => typeof value === "object" && value !== null,
  ],
  ...PATH_CHECK_KINDS,
};

/**
 * Reads the options of an adapter.
 *
 * @param of the adapter, as messages call it
 * @param also options of this adapter alone that are functions
 * @throws {HedgerowError} `ERR_OPTIONS` for an option that is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as `HeaderStripper` throws them
 */
export function readOptions<Asked>(
  of: string,
  options: AdapterOptions<Asked>,
  also: readonly string[] = [],
): Adapter<Asked> {
  const functions = Object.fromEntries(also.map((name) => [name, FUNCTION]));
  checkOptions(of, options, { ...KINDS, ...functions });
  const { headers, paths } = options;
  if (headers === undefined && paths === undefined) {
    throw new HedgerowError(
      "ERR_OPTIONS",
      `${of}: expected headers, paths, or both, found neither`,
    );
  }
  const passes = paths === undefined ? undefined : pathCheck<Asked>({ ...options, paths });
  return { ...readHeaders(of, headers), passes };
}

function readHeaders(of: string, headers: AdapterOptions<never>["headers"]) {
  if (headers === undefined || isRules(headers)) {
    const both = headers && requestStripperOf(of, headers);
    return { requests: both, responses: both };
  }
  const name = `${of}: headers`;
  const rules: Kind = ["rules or a HeaderStripper", isRules];
  checkOptions(name, headers, { requests: rules, responses: rules });
  const { requests, responses } = headers;
  if (requests === undefined && responses === undefined) {
    throw new HedgerowError(
      "ERR_OPTIONS",
      `${name}: expected requests, responses, or both, found neither`,
    );
  }
  const inbound = requests && requestStripperOf(of, requests);
  // The same ones may be rules that can be read but once.
  const outbound = responses === requests ? inbound : responses && stripperOf(responses);
  return { requests: inbound, responses: outbound };
}

function isRules(value: unknown): value is HeaderRules {
  return typeof value === "object" && value !== null
    ? isStripper(value) || Symbol.iterator in value
    : false;
}

/** A stripper for requests, whose bodies an adapter does not frame anew. */
function requestStripperOf(of: string, rules: HeaderRules): HeaderStripper {
  const stripper = stripperOf(rules);
  const framing = FRAMING.find((name) => stripper.matches(name));
  if (framing === undefined) return stripper;
  const message = `${of}: headers: expected no rule that matches ${framing} in requests, found one`;
  throw new HedgerowError("ERR_OPTIONS", message);
}

function stripperOf(rules: HeaderRules): HeaderStripper {
  const stripper = isStripper(rules) ? rules : new HeaderStripper(rules);
  // Of one that was freed it is an error, now rather than later.
  stripper.matches("");
  return stripper;
}

/** By what it does, for `hedgerow/slim` has a class of its own. */
function isStripper(value: object): value is HeaderStripper {
  const { matches, strip, stripRaw } = value as Partial<HeaderStripper>;
  return [matches, strip, stripRaw].every((method) => typeof method === "function");
}
