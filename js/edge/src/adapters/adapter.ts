/** Options that all adapters share. */
import { HedgerowError } from "../error.js";
import { HeaderStripper } from "../headers/header-stripper.js";
import { checkOptions, FUNCTION, type OptionType } from "../options.js";
import {
  PATH_CHECK_TYPES,
  type PathCheck,
  type PathCheckOptions,
  type Paths,
  pathCheck,
} from "../paths/path-check.js";

/**
 * Rules as the constructor of `HeaderStripper` takes them, or an existing stripper. `{ keep }` is an
 * allow-list: all fields are stripped except those that its rules match and those that no message can lack.
 */
export type HeaderRules = Iterable<string> | HeaderStripper | { keep: Iterable<string> };

/** Options of every adapter. Pass `headers`, `paths`, or both. */
export interface AdapterOptions<RequestType> extends Partial<PathCheckOptions<RequestType>> {
  /**
   * Fields to strip: one set of rules for requests and responses, or one for each. Default: none are
   * stripped.
   */
  headers?:
    | HeaderRules
    | {
        /** Fields to strip from requests. Default: none. */
        requests?: HeaderRules;
        /** Fields to strip from responses. Default: none. */
        responses?: HeaderRules;
      };
  /** Paths that exist; others are answered with 404. Default: paths are not checked. */
  paths?: Paths<RequestType>;
}

/** The fields that frame a request's body. */
const FRAMING = ["content-length", "transfer-encoding"];

/** Validated options. `undefined` means that there is nothing to do. */
export interface Adapter<RequestType> {
  readonly requests: HeaderStripper | undefined;
  readonly responses: HeaderStripper | undefined;
  readonly passes: PathCheck<RequestType> | undefined;
}

const OPTION_TYPES: Record<string, OptionType> = {
  headers: ["rules, a HeaderStripper, { keep }, or { requests, responses }", isObject],
  ...PATH_CHECK_TYPES,
};

/**
 * Validates the options of an adapter.
 *
 * @param subject the adapter, as messages name it
 * @param callbacks names of this adapter's additional options, all functions
 * @throws {HedgerowError} `ERR_OPTIONS` if an option is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as the constructor of `HeaderStripper`
 */
export function readOptions<RequestType>(
  subject: string,
  options: AdapterOptions<RequestType>,
  callbacks: readonly string[] = [],
): Adapter<RequestType> {
  const callbackTypes = Object.fromEntries(callbacks.map((name) => [name, FUNCTION]));
  checkOptions(subject, options, { ...OPTION_TYPES, ...callbackTypes });
  const { headers, paths } = options;
  if (headers === undefined && paths === undefined) {
    const message = `${subject}: expected headers, paths, or both, found neither`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }
  const passes = paths === undefined ? undefined : pathCheck<RequestType>({ ...options, paths });
  return { ...readHeaders(subject, headers), passes };
}

function readHeaders(subject: string, headers: AdapterOptions<never>["headers"]) {
  if (headers === undefined || isRules(headers)) {
    const both = headers && requestStripperOf(subject, headers);
    return { requests: both, responses: both };
  }
  const name = `${subject}: headers`;
  const rules: OptionType = ["rules, a HeaderStripper, or { keep }", isRules];
  checkOptions(name, headers, { requests: rules, responses: rules });
  const { requests, responses } = headers;
  if (requests === undefined && responses === undefined) {
    const message = `${name}: expected requests, responses, or both, found neither`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }
  const inbound = requests && requestStripperOf(subject, requests);
  // Do not iterate the same rules twice: they may be an iterator.
  const outbound = responses === requests ? inbound : responses && stripperOf(subject, responses);
  return { requests: inbound, responses: outbound };
}

function isRules(value: unknown): value is HeaderRules {
  return isList(value) || (isObject(value) && (isStripper(value) || "keep" in value));
}

function isList(value: unknown): value is Iterable<string> {
  return isObject(value) && Symbol.iterator in value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Returns a stripper for requests. It must keep the framing, since adapters do not reframe bodies. */
function requestStripperOf(subject: string, rules: HeaderRules): HeaderStripper {
  const stripper = stripperOf(subject, rules);
  const framing = FRAMING.find((name) => stripper.strips(name));
  if (framing === undefined) return stripper;
  const message = `${subject}: headers: expected no rule that matches ${framing} in requests, found one`;
  throw new HedgerowError("ERR_OPTIONS", message);
}

function stripperOf(subject: string, rules: HeaderRules): HeaderStripper {
  if (isList(rules)) return new HeaderStripper(rules);
  if (isStripper(rules)) {
    // Throws now, rather than on the first request, if the stripper was freed.
    rules.strips("");
    return rules;
  }
  checkOptions(`${subject}: headers`, rules, { keep: ["rules", isList] });
  return new HeaderStripper(rules.keep, { mode: "keep" });
}

/** Checks the methods, since `hedgerow/slim` defines a class of its own. */
function isStripper(value: object): value is HeaderStripper {
  const { strips, strip, stripRaw } = value as Partial<HeaderStripper>;
  return [strips, strip, stripRaw].every((method) => typeof method === "function");
}
