// Reads the result file of a learner's machine. Pure: bytes in, a result or one sentence out.
//
// What a good file looks like says results/schema.json, and a library compares the two. Here is
// what no schema can say: whether it is text at all, whole, of today's version, and no quick trial;
// result-checks.js has what the numbers say of each other.

import { isObject } from "./record.js";
import { contradiction, oddity } from "./result-checks.js";

/** @typedef {import("./own-machine.js").Figure} Figure */
/** @typedef {{[field: string]: unknown}} Json */
/** @typedef {{provenance: Json, figures: Record<string, Figure>, ignored: string[]}} Result */
/** @typedef {{instanceLocation: string, keyword: string, keywordLocation: string, error: string}} Complaint */
/**
 * The part of @cfworker/json-schema that is used here. It reads the schema and builds no code, so
 * that the Content-Security-Policy allows it.
 * @callback Validate
 * @param {unknown} instance
 * @param {Json} schema
 * @param {string} draft
 * @returns {{valid: boolean, errors: Complaint[]}}
 */

export const LARGEST_BYTES = 5_000_000;
const AGAIN = "measure again with `python -m benchmarks run`";
const LONGEST_QUOTE = 80;

/** All names that `a_{1,2}` stands for: `a_1` and `a_2`. @param {string} name @returns {string[]} */
export function expanded(name) {
  const [braces, choices] = /\{([^}]*)\}/.exec(name) ?? [];
  if (!braces || choices === undefined) return [name];
  return choices.split(",").flatMap((choice) => expanded(name.replace(braces, choice)));
}

/** A file that cannot be taken in; the message is one sentence for the learner. */
export class ResultError extends Error {}

/**
 * The result that a file holds.
 * @param {Uint8Array} bytes the whole file
 * @param {{schema: Json, validate: Validate, known: Set<string>}} tools
 * @returns {Result}
 * @throws {ResultError} with the place in the file, and what to do
 */
export function readResult(bytes, { schema, validate, known }) {
  const text = textOf(bytes);
  const result = parsed(text);
  if (!isObject(result)) throw new ResultError("The file holds no JSON object, so it is no result file.");
  const odd = oddity(text, result);
  if (odd) throw new ResultError(`The file is damaged, ${odd}; ${AGAIN}.`);
  checkKind(result, versionOf(schema));
  const { valid, errors } = validate(result, schema, "2020-12");
  if (!valid) throw new ResultError(inWords(errors, result, schema));
  const wrong = contradiction(result, Date.now());
  if (wrong) throw new ResultError(`${wrong}; ${AGAIN}.`);
  return withKnownFigures(result, known);
}

/** @param {Uint8Array} bytes @returns {string} */
function textOf(bytes) {
  if (!bytes.length) throw new ResultError(`The file is empty; ${AGAIN}.`);
  checkSize(bytes.length);
  const [first = 0, second = 0] = bytes;
  if ((first === 0x1f && second === 0x8b) || (first === 0x50 && second === 0x4b))
    throw new ResultError("The file is compressed; unpack it, and choose the JSON file in it.");
  const wide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (wide || first === 0 || second === 0)
    throw new ResultError("The file is UTF-16 text; save it as UTF-8, and choose it again.");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes); // a mark at the start is left out
  } catch {
    throw new ResultError(`The file is not UTF-8 text; choose the file as the job wrote it, or ${AGAIN}.`);
  }
}

/** Refuse a file that is too large, before anybody reads it. @param {number} bytes */
export function checkSize(bytes) {
  if (bytes > LARGEST_BYTES)
    throw new ResultError("The file has more than 5 MB, and no result file is so large; choose another.");
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (problem) {
    throw new ResultError(whyNoJson(text, String(problem)));
  }
}

/** @param {string} text @param {string} problem what the browser's parser said */
function whyNoJson(text, problem) {
  if (!text.trim()) return `The file is blank; ${AGAIN}.`;
  if (!text.trimStart().startsWith("{")) return "The file is no JSON; choose the .json file that the job wrote.";
  if (!text.trimEnd().endsWith("}")) return `The file is cut off at its end; copy it again, or ${AGAIN}.`;
  const notNumber = /:\s*(-?(?:NaN|Infinity|nan|inf))\b/.exec(text);
  if (notNumber)
    return `Line ${lineAt(text, notNumber.index)} says ${notNumber[1]}, which is no number; ${AGAIN}.`;
  const position = /position (\d+)/.exec(problem)?.[1];
  const line = position ? lineAt(text, Number(position)) : /line (\d+)/.exec(problem)?.[1];
  return `The file is no JSON${line ? ` from line ${line} on` : ""}; copy it again, or ${AGAIN}.`;
}

/** @param {string} text @param {number} position */
const lineAt = (text, position) => text.slice(0, position).split("\n").length;

/** @param {Json} schema @returns {unknown} */
const versionOf = (schema) =>
  isObject(schema.properties) && isObject(schema.properties.version)
    ? schema.properties.version.const
    : undefined;

/** What is some other file, or of another version. @param {Json} file @param {unknown} version */
function checkKind(file, version) {
  if (file.format === "gpu-training.record")
    throw new ResultError("This is a learner’s record; import it at the end of the lesson’s summary.");
  if (!("version" in file) || !("cases" in file))
    throw new ResultError("The file is JSON, and no result file: it names no version or no cases.");
  const found = file.version;
  if (typeof found === "number" && typeof version === "number" && found !== version)
    throw new ResultError(
      `The file has version ${found}, and this page reads version ${version}; ` +
        (found < version ? `take the newest code, and ${AGAIN}.` : "reload the page, or use a newer copy of it."),
    );
  if (isObject(file.provenance) && file.provenance.quick === true)
    throw new ResultError(
      "The file comes from a run with --quick, whose few repetitions compare nothing; run it without.",
    );
}

/**
 * The library names the outermost part first; the innermost is where the mistake is.
 * @param {Complaint[]} errors
 * @param {Json} result
 * @param {Json} schema
 */
function inWords(errors, result, schema) {
  const depth = (/** @type {Complaint} */ error) => error.instanceLocation.split("/").length;
  const innermost = errors.reduce((a, b) => (depth(b) >= depth(a) ? b : a));
  const choice = errors.find(
    (error) => error.keyword === "oneOf" && error.instanceLocation === innermost.instanceLocation,
  );
  const deepest = choice ?? innermost;
  const steps = stepsOf(deepest.instanceLocation);
  const at = steps.length ? `At ${quoted(steps.join("."))}` : "At the top";
  const wanted = description(schema, stepsOf(deepest.keywordLocation));
  return `${at}: ${complaint(deepest, valueAt(result, steps), wanted)}; correct it, or ${AGAIN}.`;
}

/** The steps of a JSON pointer. @param {string} pointer */
const stepsOf = (pointer) =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));

/** @param {Complaint} error @param {unknown} value @param {string} wanted */
function complaint({ keyword, keywordLocation, error }, value, wanted) {
  const shown = quoted(JSON.stringify(value) ?? "nothing");
  if (keywordLocation.includes("/propertyNames/")) return `its name has to be ${wanted || "shorter"}`;
  if (keyword === "false") return "no result file has such a field";
  if (keyword === "pattern") return wanted ? `it has to be ${wanted}` : `${shown} is not written as it has to be`;
  if (keyword === "exclusiveMinimum" || keyword === "minimum") return `${shown} is too small`;
  if (keyword === "exclusiveMaximum" || keyword === "maximum") return `${shown} is too large`;
  if (keyword === "maxLength") return `${shown} is too long`;
  if (keyword === "type") return `${shown} is of the wrong kind`;
  if (keyword === "oneOf") return "it needs either entries or the reason why it was skipped";
  if (keyword === "required") return `it lacks ${/"([^"]*)"/.exec(error)?.[1] ?? "a field"}`;
  if (keyword.startsWith("min")) return "it is empty";
  if (keyword.startsWith("max")) return "it holds too much";
  return `${shown} is none of what may be there`;
}

/** What the schema says in words about the value that a keyword rejects. @param {Json} schema @param {string[]} way */
function description(schema, way) {
  /** @type {unknown} */
  let at = schema;
  for (const step of way.slice(0, -1)) {
    if (!isObject(at)) return "";
    at = step === "$ref" ? valueAt(schema, stepsOf(String(at.$ref))) : at[step];
  }
  return isObject(at) && typeof at.description === "string" ? at.description : "";
}

/** @param {unknown} value @param {string[]} steps @returns {unknown} */
function valueAt(value, steps) {
  const [step, ...others] = steps;
  if (step === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return valueAt(/** @type {Json} */ (value)[step], others);
}

/** @param {string} text */
const quoted = (text) => (text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);

/** @param {Json} result @param {Set<string>} known @returns {Result} */
function withKnownFigures(result, known) {
  const all = /** @type {[string, Figure][]} */ (Object.entries(/** @type {Json} */ (result.figures)));
  const figures = all.filter(([name]) => known.has(name));
  if (!all.length)
    throw new ResultError(`The file holds no figures, since nothing was measured; ${AGAIN}.`);
  if (!figures.length)
    throw new ResultError(
      `None of the file’s ${all.length} figures is known to this site; take the newest code, and ${AGAIN}.`,
    );
  return {
    provenance: /** @type {Json} */ (result.provenance),
    figures: Object.fromEntries(figures),
    ignored: all.filter(([name]) => !known.has(name)).map(([name]) => name),
  };
}
