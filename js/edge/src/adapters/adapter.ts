/** Options that all adapters share, and the reports of what adapters do. */
import { checkOptions, FUNCTION, HedgerowError, type OptionType } from "../error.js";
import { channelOf } from "../events.js";
import { HeaderStripper } from "../headers/header-stripper.js";
import {
  PATH_CHECK_TYPES,
  type PathCheck,
  type PathCheckOptions,
  type Paths,
  pathCheck,
} from "../paths/guard-paths.js";

/**
 * Rules as the constructor of `HeaderStripper` takes them, or an existing stripper. `{ keep }` is an allow-list: it
 * strips all fields except those that its rules match and those that every message needs.
 */
export type HeaderRules =
  | Iterable<string>
  | HeaderStripper
  | {
      /** The rules of an allow-list. */
      keep: Iterable<string>;
    };

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
  /**
   * Whether to change nothing, and only to report what would be stripped and refused. Lookups of paths are
   * still awaited. Default: `false`.
   */
  dryRun?: boolean;
  /**
   * Called with the fields stripped from a message, or the request refused: at most once of each kind for a message.
   * Its errors are logged with `console.error`. Clients choose names and paths: escape them in logs, and do not use
   * them as labels of metrics. Default: nothing is reported.
   */
  report?: (report: AdapterReport) => void;
  /**
   * Returns whether a request is from an internal caller. If the result is `true`, the fields of the request are kept;
   * its path is still checked, and its response still stripped. Any other result, including a promise or an error,
   * which is logged with `console.error`, means that it is not. Do not decide by fields that clients can send. Default:
   * no request is trusted.
   */
  trust?: (request: RequestType) => boolean;
}

/** Fields that an adapter stripped from a message, or would strip in a dry run. */
export interface StripReport {
  /** Fields were stripped. */
  readonly kind: "strip";
  /** Whether the message is a request or a response. */
  readonly direction: "requests" | "responses";
  /** Their names in lower case, each once. Clients choose those of requests. */
  readonly names: readonly string[];
  /** Reports of fields have no path. */
  readonly path?: undefined;
  /** The number of fields, counting each line of a repeated field where the runtime keeps lines apart. */
  readonly count: number;
}

/** A request that an adapter refused, or would refuse in a dry run. */
export interface RefusalReport {
  /** A request was refused. */
  readonly kind: "refuse";
  /** Only requests are refused. */
  readonly direction: "requests";
  /** `["connection"]`, if `Connection` nominates a field meant for all recipients. */
  readonly names?: readonly string[];
  /** The path that does not exist, in the form that was looked up. */
  readonly path?: string;
  /** The number of requests. */
  readonly count: 1;
}

/** What an adapter did to a message, or would do in a dry run. */
export type AdapterReport = StripReport | RefusalReport;

/** The fields that frame a request's body. */
const FRAMING = ["content-length", "transfer-encoding"];

/** How to strip the messages of one direction. */
export interface Stripping {
  readonly stripper: HeaderStripper;
  /** Whether messages must stay unchanged. */
  readonly isDryRun: boolean;
  /** Returns whether the names passed to {@link note} are used. */
  isObserved(): boolean;
  /** Takes the names stripped from a message, one for each field. To be called once for each message. */
  note(names: readonly string[]): void;
}

/** Validated options. `undefined` means that there is nothing to do. */
export interface Adapter<RequestType> {
  readonly responses: Stripping | undefined;
  readonly passes: PathCheck<RequestType> | undefined;
  readonly isDryRun: boolean;
  /**
   * Strips a request with `strip`, unless there are no rules or it is trusted.
   *
   * @returns the error if the request must be refused because of its `Connection`; in a dry run, it passes
   */
  refusalOf(request: RequestType, strip: (requests: Stripping) => void): unknown;
}

const OPTION_TYPES: Record<string, OptionType> = {
  headers: ["rules, a HeaderStripper, { keep }, or { requests, responses }", isObject],
  dryRun: ["true or false", (value) => typeof value === "boolean"],
  report: FUNCTION,
  trust: FUNCTION,
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
  const { headers, paths, dryRun: isDryRun = false, report, trust } = options;
  if (headers === undefined && paths === undefined) {
    const message = `${subject}: expected headers, paths, or both, found neither`;
    throw new HedgerowError("ERR_OPTIONS", message);
  }
  const { requests, responses } = readHeaders(subject, headers);
  const messages = channelOf("hedgerow:edge:message");
  const reports = channelOf("hedgerow:edge:report");
  const of = { adapter: subject, dryRun: isDryRun };
  const isObserved = () => report !== undefined || reports?.hasSubscribers === true;
  const see = (direction: AdapterReport["direction"]) => {
    if (messages?.hasSubscribers) messages.publish({ ...of, direction });
  };
  const tell = (done: AdapterReport) => {
    if (reports?.hasSubscribers) reports.publish({ ...of, ...done });
    if (report) call("report", report, done);
  };
  const refuse = (why: Pick<RefusalReport, "names" | "path">) =>
    tell({ kind: "refuse", direction: "requests", ...why, count: 1 });
  const stripping = (
    stripper: HeaderStripper | undefined,
    direction: AdapterReport["direction"],
  ): Stripping | undefined =>
    stripper && {
      stripper,
      isDryRun,
      isObserved,
      note(names) {
        if (direction === "responses") see(direction);
        if (names.length === 0 || !isObserved()) return;
        tell({ kind: "strip", direction, names: [...new Set(names)], count: names.length });
      },
    };
  const inbound = stripping(requests, "requests");

  return {
    isDryRun,
    responses: stripping(responses, "responses"),
    passes:
      paths &&
      pathCheck(options as PathCheckOptions<RequestType>, (exists, path) => {
        if (!exists) refuse({ path });
        return exists || isDryRun;
      }),
    refusalOf(request, strip) {
      see("requests");
      if (inbound === undefined || (trust && call("trust", trust, request) === true)) return;
      try {
        strip(inbound);
      } catch (error) {
        if (!isForbiddenNomination(error)) throw error;
        refuse({ names: ["connection"] });
        return error;
      }
    },
  };
}

/** Calls a function of the caller's. Its errors must not affect the message, so they are logged. */
function call<Given, Result>(
  name: string,
  callback: (given: Given) => Result,
  given: Given,
): Result | undefined {
  const log = (error: unknown) => console.error(`hedgerow: ${name} failed:`, error);
  try {
    const result = callback(given);
    if (result instanceof Promise) result.catch(log);
    return result;
  } catch (error) {
    log(error);
    return undefined;
  }
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

/**
 * Returns whether an error says that `Connection` nominates a field meant for all recipients. Compares the
 * code, since `hedgerow/slim` defines an error class of its own.
 */
export function isForbiddenNomination(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_CONNECTION_OPTION";
}
