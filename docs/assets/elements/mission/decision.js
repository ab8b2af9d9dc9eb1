// The design ledger of the mission: made of what the learner did, and checked when a file comes in.
// Pure. lesson_site/mission/decision.py gives schema, sentences and bounds.

import { isObject } from "../record.js";
import { fill } from "./draw.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Payload} Payload */
/** @typedef {import("./state.js").Recorded} Recorded */
/** @typedef {{[name: string]: unknown}} Decision */
/** @typedef {{code: string, path: string, message: string, severity: "error" | "warning", found: string}} Issue */
/** @typedef {(string | number)[]} Steps from the top of the file to a value */
/** @typedef {[code: string, steps: Steps]} Place */
/** @typedef {{instanceLocation: string, keyword: string, keywordLocation: string}} Complaint */
/**
 * The part of @cfworker/json-schema that is used here.
 * @callback Validate
 * @param {unknown} instance
 * @param {{[keyword: string]: any}} schema
 * @param {string} draft
 * @param {undefined} lookup
 * @param {boolean} shortCircuit whether to stop at the first mistake
 * @returns {{valid: boolean, errors: Complaint[]}}
 */
/**
 * What `rules` in Python writes, with the library that reads the schema.
 * @typedef {{schema: {[keyword: string]: any}, issues: [string, Issue["severity"], string][],
 *   bounds: {[name: string]: any}, codes: {[keyword: string]: string},
 *   belongs: string}} Rules
 * @typedef {Rules & {validate: Validate}} Tools
 */

// What the learner decided.

/**
 * What "Record this configuration" stores: the analyzer as it stands. The optimizer is the one chosen
 * before, or that of Act 1. Null where the analyzer shows another world than the default one.
 * @param {State} state
 * @returns {Recorded | null}
 */
export function recorded({ act1, act2 }) {
  const { prefetch = "", mixed, checkpointing = "", batch = "", tensor_effect } = act2.controls;
  if (tensor_effect !== "1") return null;
  const optimizer = act2.record?.optimizer ?? act1.controls.optimizer ?? "";
  return { optimizer, precision: mixed === "1" ? "mixed" : "fp32", prefetch, checkpointing, batch };
}

/** The analyzer's row for a decision; FP16 has none of its own, and takes that of Mixed. @param {Payload} payload @param {Recorded} record */
export function rowOf(payload, { precision, prefetch, checkpointing, batch }) {
  return payload.pipeline[[prefetch, precision === "fp32" ? "0" : "1", checkpointing, batch, "1"].join("/")];
}

/**
 * What has to be done before a file can be made, each with the place where it is done.
 * @param {State} state
 * @returns {[where: string, what: string][]}
 */
export function missing({ act1, act2, laptop }) {
  const { reflection } = act2;
  const reached = laptop.smallest !== null && laptop.outcomes_seen.some((outcome) => outcome !== "searching");
  /** @type {[boolean, string, string][]} */
  const needs = [
    [act1.locked_at !== null, "#predict-1", "Predict what Adam adds"],
    [act1.reflection.checked, "#reflect-1", "Check what mixed precision shrinks"],
    [act2.locked_at !== null, "#predict-2", "Predict how busy the GPU is"],
    [act2.record !== null, "#record", "Record a configuration"],
    [reached, "#laptop", "Bring the laptop challenge to an outcome"],
    [laptop.quantify.checked, "#laptop", "Quantify the laptop’s floor"],
    [reflection.choice_checked && reflection.checked, "#reflect-2", "Check both questions about what the loader hides"],
  ];
  return needs.flatMap(([done, where, what]) => (done ? [] : [[where, what]]));
}

/**
 * The design ledger; nothing may be missing.
 * @param {State} state
 * @param {Payload} payload
 * @param {Date} now
 * @returns {Decision}
 */
export function decisionOf({ act1, act2, laptop }, payload, now) {
  const { record } = act2;
  if (!record || laptop.smallest === null) throw new Error("the mission is not complete");
  const { schema, bounds } = payload.decision;
  const [row, smallest] = [rowOf(payload, record), payload.laptop[laptop.smallest]];
  return {
    chapter: schema.properties.chapter.const,
    optimizer_chosen: record.optimizer,
    precision_chosen: record.precision,
    gradient_checkpointing: record.checkpointing === "1",
    final_mfu_pct: Number(row.mfu),
    baseline_mfu_estimate_pct: act2.prediction,
    laptop_fit_achieved: laptop.fit,
    laptop_minimum_memory_gb: smallest.kept_gb,
    details: {
      schema_version: schema.properties.details.properties.schema_version.const,
      model_version: payload.model_version,
      exported_at: now.toISOString().replace(/\.\d+/, ""),
      prediction_act1: act1.prediction,
      ...(record.precision === "mixed" ? { mixed_bookkeeping: act1.controls.bookkeeping } : {}),
      prefetching: record.prefetch === "1",
      batch_size: Number(record.batch),
      final_accelerator_utilisation_pct: Number(row.utilisation),
      final_compute_share_pct: Number(row.shares[2]),
      target_reached: row.target === "reached", // by what is recorded, not by what was tried
      laptop_fit_numerically_safe: laptop.fit && !smallest.outcome.endsWith("_unsafe"),
      laptop_static_floor_gb: bounds.static_floor_gb,
      laptop_moves: laptop.moves.map(({ n, control, from, to, total_gb }) => ({
        n,
        control,
        from: control === "batch" ? Number(from) : from,
        to: control === "batch" ? Number(to) : to,
        total_gb: Number(total_gb.toFixed(2)),
      })),
    },
  };
}

// What comes in.

/**
 * Read a file: what it holds, and everything that is wrong with it.
 * @param {Uint8Array} bytes the whole file; a byte-order mark is accepted
 * @param {Tools} tools
 * @param {{[chapter: string]: unknown}} others the ledgers that are there already
 * @param {number} size how many bytes the file has, where not all of them were read
 * @returns {{value: unknown, issues: Issue[]}}
 */
export function readDecision(bytes, tools, others, size = bytes.length) {
  const { bounds } = tools;
  if (size > bounds.bytes) return { value: null, issues: [issueOf(tools, "E_SIZE", [], String(size))] };
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value = parsedOnce(text, bounds.levels);
    return { value, issues: issuesOf(value, tools, others) };
  } catch {
    const found = text && cut(ascii(text.trim()), bounds.found);
    return { value: null, issues: [issueOf(tools, "E_JSON", [], found)] };
  }
}

/**
 * JSON, but not what parsers differ in: deep nesting, keys that stand twice, half characters in keys.
 * @param {string} text
 * @param {number} levels
 * @returns {unknown}
 */
function parsedOnce(text, levels) {
  const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g) ?? [];
  /** @type {Set<string>[]} */
  const keys = [];
  for (const [index, token] of tokens.entries()) {
    if (token === "{" || token === "[") keys.push(new Set());
    if (keys.length > levels) throw new Error("too deep");
    if (token === "}" || token === "]") keys.pop();
    if (!token.startsWith('"') || tokens[index + 1] !== ":") continue;
    const key = JSON.parse(token);
    if (keys.at(-1)?.has(key) || /\p{Surrogate}/u.test(key)) throw new Error("a key is there twice, or is not text");
    keys.at(-1)?.add(key);
  }
  return JSON.parse(text);
}

/**
 * @param {unknown} value
 * @param {Tools} tools
 * @param {{[chapter: string]: unknown}} others
 */
function issuesOf(value, tools, others) {
  const errors = [...dangerous(value, [], tools.bounds.dangerous), ...againstSchema(value, tools)];
  const places = errors.length ? errors : doubts(/** @type {Decision} */ (value), tools, others);
  const issues = places.map(([code, steps]) => issueOf(tools, code, steps, foundAt(value, steps, tools.bounds.found), value));
  const order = tools.issues.map(([code]) => code);
  const once = new Map(issues.map((issue) => [`${issue.code} ${issue.path}`, issue]));
  return [...once.values()].sort(
    (a, b) => order.indexOf(a.code) - order.indexOf(b.code) || (a.path < b.path ? -1 : Number(a.path > b.path)),
  );
}

/** Where keys stand that reach into JavaScript's objects. @param {unknown} value @param {Steps} steps @param {string[]} names @returns {Place[]} */
function dangerous(value, steps, names) {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const here = [...steps, Array.isArray(value) ? Number(key) : key];
    const inside = dangerous(part, here, names);
    return names.includes(key) ? [/** @type {Place} */ (["E_PROTO", here]), ...inside] : inside;
  });
}

/** @param {unknown} value @param {Tools} tools @returns {Place[]} */
function againstSchema(value, tools) {
  // Libraries differ in what they take for a time, so that one of ours stands in for the format.
  const timed = (/** @type {string} */ _, /** @type {any} */ part) =>
    part?.format === "date-time" ? { ...part, format: undefined, pattern: tools.bounds.time } : part;
  const schema = JSON.parse(JSON.stringify(tools.schema), timed);
  const { errors } = tools.validate(value, schema, "2020-12", undefined, false);
  return errors.flatMap((error) => placesOf(error, value, tools));
}

/** Where one complaint of the library is, and what we call it. @param {Complaint} error @param {unknown} value @param {Tools} tools @returns {Place[]} */
function placesOf({ instanceLocation, keyword, keywordLocation }, value, { schema, codes, bounds }) {
  const steps = stepsTo(instanceLocation, value);
  const rule = valueAt(schema, stepsTo(keywordLocation, schema));
  const here = valueAt(value, steps);
  if (keyword === "required")
    return rule.filter((/** @type {string} */ key) => !Object.hasOwn(here, key)).map((/** @type {string} */ key) => ["E_MISSING", [...steps, key]]);
  if (keyword === "false") return bounds.dangerous.includes(steps.at(-1)) ? [] : [["E_UNKNOWN", steps]];
  if (keyword === "const" || keyword === "enum") return [[choiceCode(here, [rule].flat(), steps), steps]];
  // The other keywords only say that a mistake is somewhere inside.
  const code = codes[keyword];
  if (!code) return [];
  return [[keywordLocation.startsWith("#/allOf") ? "E_FIT" : code, steps]];
}

/** @param {unknown} value @param {unknown[]} allowed @param {Steps} steps */
function choiceCode(value, allowed, steps) {
  if (!allowed.some((one) => typeof one === typeof value)) return "E_TYPE";
  const last = steps.at(-1);
  return last === "chapter" ? "E_CHAPTER" : last === "schema_version" ? "E_VERSION" : "E_ENUM";
}

/** What a good file says, and hardly can mean. @param {Decision} ledger @param {Tools} tools @param {{[chapter: string]: unknown}} others @returns {Place[]} */
function doubts(ledger, { bounds, schema }, others) {
  /** @type {Place[]} */
  const places = [];
  if (Number(ledger.final_mfu_pct) > bounds.mfu) places.push(["W_MFU", ["final_mfu_pct"]]);
  const smallest = Number(ledger.laptop_minimum_memory_gb);
  const fits = smallest <= bounds.laptop_budget_gb;
  // What is below the smallest total is no total either.
  if (!bounds.laptop_totals.includes(smallest.toFixed(2)) || fits !== ledger.laptop_fit_achieved)
    places.push(["W_FLOOR", ["laptop_minimum_memory_gb"]]);
  if (Object.hasOwn(others, chapterOf(schema))) places.push(["W_OVERWRITE", []]);
  return places;
}

/** Under which name the mission's ledger is kept. @param {Rules["schema"]} schema */
export const chapterOf = (schema) => String(schema.properties.chapter.const);

/**
 * @param {Tools} tools
 * @param {string} code
 * @param {Steps} steps
 * @param {string} found
 * @param {unknown} value the whole file
 * @returns {Issue}
 */
function issueOf(tools, code, steps, found, value = null) {
  const [, severity = "error", text = ""] = tools.issues.find(([other]) => other === code) ?? [];
  const other = code === "E_CHAPTER" && isObject(value) ? otherOf(value.chapter, tools) : "";
  const message = fill(text, { allowed: allowedAt(tools.schema, code, steps), other }).trim();
  return { code, path: pathOf(steps, tools.bounds.found), message, severity, found };
}

/** @param {unknown} chapter @param {Tools} tools */
function otherOf(chapter, { bounds, belongs }) {
  if (!Number.isInteger(chapter) || Number(chapter) < 1 || Number(chapter) > bounds.chapters) return "";
  return fill(belongs, { chapter: String(chapter) });
}

/** What may be at a place, as the schema describes it; for an unknown key, the known ones. @param {Rules["schema"]} schema @param {string} code @param {Steps} steps */
function allowedAt(schema, code, steps) {
  const unknown = code === "E_UNKNOWN";
  /** @type {{[keyword: string]: any}} */
  let at = schema;
  for (const step of unknown ? steps.slice(0, -1) : steps)
    at = (typeof step === "number" ? at.items : Object.hasOwn(at.properties ?? {}, step) && at.properties[step]) || {};
  return unknown ? Object.keys(at.properties).sort().join(", ") : String(at.description ?? "");
}

/** The steps of the library's JSON pointer. @param {string} pointer @param {unknown} value @returns {Steps} */
function stepsTo(pointer, value) {
  /** @type {Steps} */
  const steps = [];
  for (const part of pointer.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    steps.push(Array.isArray(valueAt(value, steps)) ? Number(name) : name);
  }
  return steps;
}

/** @param {unknown} value @param {Steps} steps @returns {any} */
const valueAt = (value, steps) =>
  steps.reduce((/** @type {any} */ at, step) => (at && Object.hasOwn(at, step) ? at[step] : undefined), value);

/** What is at a place; nothing for the whole, and for a key that is missing. @param {unknown} value @param {Steps} steps @param {number} longest */
function foundAt(value, steps, longest) {
  const found = valueAt(value, steps);
  return found === undefined || (!steps.length && isObject(value)) ? "" : cut(ascii(found), longest);
}

/** @param {Steps} steps @param {number} longest */
const pathOf = (steps, longest) =>
  `$${steps.map((step) => (/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(String(step)) ? `.${step}` : `[${cut(ascii(step), longest)}]`)).join("")}`;

/** JSON in which every other character is escaped, so that none can look like another. @param {unknown} value */
function ascii(value) {
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return text.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const LONGEST_NAME = 60;

/**
 * Names and values of a ledger, to look at before it is kept; also of one that another page kept.
 * @param {unknown} ledger
 * @param {number} longest
 * @returns {Map<string, string>}
 */
export function shown(ledger, longest) {
  const { details = {}, ...fields } = isObject(ledger) ? ledger : {};
  const inside = isObject(details) ? Object.entries(details).map(([name, value]) => [`details.${name}`, value]) : [];
  return new Map(
    [...Object.entries(fields), ...inside].map(([name, value]) => [
      cut(String(name), LONGEST_NAME),
      Array.isArray(value) ? `${value.length} in a list` : cut(ascii(value), longest),
    ]),
  );
}

/** @param {string} text @param {number} longest */
const cut = (text, longest) => (text.length <= longest ? text : `${text.slice(0, longest)}…`);
