// What the browser keeps of the mission, checked in full; loaded once there is something to check.

import { CHECKS, MISSION, isObject, parsed, readEntries, saveEntry } from "../record.js";
import { LETTERS, LONGEST_REASON, MOST_MOVES, NAME, QUESTIONS, predict } from "./state.js";

/** @typedef {import("./state.js").Payload} Payload */
/** @typedef {import("./state.js").Control} Control */
/** @typedef {import("./state.js").Controls} Controls */
/** @typedef {import("./state.js").Chosen} Chosen */
/**
 * @typedef {{n: number, control: string, from: string, to: string, before_gb: string, total_gb: number,
 *   after_gb: string}} Move
 * @typedef {{optimizer: string, precision: string, prefetch: string, checkpointing: string, batch: string}} Recorded
 * @typedef {object} State
 * @property {number} v
 * @property {boolean} skipped whether a returning learner went straight to Act 2
 * @property {string | null} completed_at
 * @property {{prediction: string | null, locked_at: string | null, controls: Chosen, hidden: string[],
 *   seen: string[], revealed: boolean, prompts: string[],
 *   tradeoff: {node: string | null, laptop: string | null, reason: string},
 *   reflection: {answers: (string | null)[], checked: boolean}}} act1 seen: optimizers shown at FP32
 * @property {{prediction: number | null, locked_at: string | null, controls: Chosen, changes: number,
 *   target_reached: boolean, record: Recorded | null,
 *   reflection: {choice: string | null, choice_checked: boolean, answers: (string | null)[], checked: boolean}}} act2
 * @property {{early: boolean, config: Chosen, moves: Move[], outcomes_seen: string[], smallest: string | null,
 *   fit: boolean, quantify: {gb: string, why: string | null, checked: boolean}}} laptop smallest: the key of a row
 */

const VERSION = 1;
const LONGEST_NUMBER = 20;
const SMALLEST_GB = 0.005; // less would be nothing in a ledger, which has two places
const LONGEST_NAME = 60; // of a field that is named in a sentence

/** @param {Controls} controls @returns {Chosen} */
const defaults = (controls) =>
  Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, control.default]));

/** Where everybody begins. @param {Payload} payload @returns {State} */
export function fresh(payload) {
  const { ledger = {}, pipeline = {}, laptop = {} } = payload.controls;
  return {
    v: VERSION,
    skipped: false,
    completed_at: null,
    act1: freshActOne(ledger),
    act2: freshActTwo(pipeline),
    laptop: freshLaptop(laptop),
  };
}

/** @param {Controls} controls @returns {State["act1"]} */
const freshActOne = (controls) => ({
  prediction: null,
  locked_at: null,
  controls: defaults(controls),
  hidden: [],
  seen: [],
  revealed: false,
  prompts: [],
  tradeoff: { node: null, laptop: null, reason: "" },
  reflection: { answers: [null, null, null], checked: false },
});

/** @param {Controls} controls @returns {State["act2"]} */
const freshActTwo = (controls) => ({
  prediction: null,
  locked_at: null,
  controls: defaults(controls),
  changes: 0,
  target_reached: false,
  record: null,
  reflection: { choice: null, choice_checked: false, answers: [null, null, null], checked: false },
});

/** @param {Controls} controls @returns {State["laptop"]} */
const freshLaptop = (controls) => ({
  early: false,
  config: defaults(controls),
  moves: [],
  outcomes_seen: [],
  smallest: null,
  fit: false,
  quantify: { gb: "", why: null, checked: false },
});

/** @typedef {(value: unknown) => boolean} Test */
/** @typedef {{[name: string]: Test | Shape}} Shape */

/** @type {Test} */
const isBoolean = (value) => typeof value === "boolean";
/** @type {Test} */
const isTime = (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
/** @param {number} most @returns {Test} */
const isCount = (most) => (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most;
/** @param {number} longest @returns {Test} */
const isText = (longest) => (value) => typeof value === "string" && value.length <= longest;
/** @param {string[]} allowed @returns {Test} */
const oneOf = (allowed) => (value) => typeof value === "string" && allowed.includes(value);
/** @param {Test} test @returns {Test} */
const orNull = (test) => (value) => value === null || test(value);
/** @param {Test} test @param {number} most @returns {Test} */
const listOf = (test, most) => (value) => Array.isArray(value) && value.length <= most && value.every(test);
/** @param {Control} control */
const values = (control) => control.values.map(([value]) => value);
/** @param {Controls} controls @returns {Shape} */
const chosen = (controls) =>
  Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, oneOf(values(control))]));
/** @param {Shape} shape @returns {Test} */
const shaped = (shape) => (value) => misfit(value, shape) === null;

/** @param {Payload} payload @returns {Shape} */
function shapeOf(payload) {
  const { ledger = {}, pipeline = {}, laptop = {} } = payload.controls;
  const optimizers = ledger.optimizer ? values(ledger.optimizer) : [];
  const precisions = ledger.precision ? values(ledger.precision) : [];
  const prediction = orNull(oneOf([...LETTERS]));
  const verdict = orNull(oneOf(["worth", "not"]));
  const answers = /** @type {Test} */ ((value) => listOf(orNull(isText(LONGEST_NUMBER)), 3)(value) && /** @type {unknown[]} */ (value).length === 3);
  const moved = Object.entries(laptop).map(([name, control]) => shaped({
    n: (value) => value !== 0 && isCount(MOST_MOVES)(value),
    control: oneOf([name]),
    from: oneOf(values(control)),
    to: oneOf(values(control)),
    before_gb: isText(LONGEST_NUMBER),
    after_gb: isText(LONGEST_NUMBER),
    total_gb: (value) => Number.isFinite(value) && Number(value) >= SMALLEST_GB,
  }));
  const move = /** @type {Test} */ ((value) => moved.some((test) => test(value)));
  const { batch, prefetch, checkpointing } = chosen(pipeline);
  const record = shaped({
    optimizer: oneOf(optimizers),
    precision: oneOf(precisions),
    ...(batch && prefetch && checkpointing ? { batch, prefetch, checkpointing } : {}),
  });
  return {
    v: (value) => value === VERSION,
    skipped: isBoolean,
    completed_at: orNull(isTime),
    act1: {
      prediction,
      locked_at: orNull(isTime),
      controls: chosen(ledger),
      hidden: listOf(oneOf(payload.components.map(([id]) => id)), payload.components.length),
      seen: listOf(oneOf(optimizers), optimizers.length),
      revealed: isBoolean,
      prompts: listOf(isText(LONGEST_NUMBER), 10),
      tradeoff: { node: verdict, laptop: verdict, reason: isText(LONGEST_REASON) },
      reflection: { answers, checked: isBoolean },
    },
    act2: {
      prediction: orNull(isCount(100)),
      locked_at: orNull(isTime),
      controls: chosen(pipeline),
      changes: isCount(1e6),
      target_reached: isBoolean,
      record: orNull(record),
      reflection: {
        choice: orNull(oneOf(payload.reflections.choice.options.map((/** @type {[string, string]} */ [id]) => id))),
        choice_checked: isBoolean,
        answers,
        checked: isBoolean,
      },
    },
    laptop: {
      early: isBoolean,
      config: chosen(laptop),
      moves: listOf(move, MOST_MOVES),
      outcomes_seen: listOf(isText(LONGEST_NUMBER), 10),
      smallest: orNull((key) => typeof key === "string" && Object.hasOwn(payload.laptop, key)),
      fit: isBoolean,
      quantify: { gb: isText(LONGEST_NUMBER), why: orNull(isText(LONGEST_NUMBER)), checked: isBoolean },
    },
  };
}

/**
 * The first field that is not as it must be, or null.
 * @param {unknown} value
 * @param {Shape} shape
 * @returns {string | null}
 */
function misfit(value, shape) {
  if (!isObject(value)) return "";
  for (const name of Object.keys(value)) if (!Object.hasOwn(shape, name)) return name;
  for (const [name, wanted] of Object.entries(shape)) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof wanted === "function") {
      if (!wanted(found)) return name;
      continue;
    }
    const inside = misfit(found, wanted);
    if (inside !== null) return inside ? `${name}.${inside}` : name;
  }
  return null;
}

/**
 * What is wrong with a kept state, in half a sentence; empty if nothing.
 * @param {unknown} value
 * @param {Payload} payload
 */
export function problemOf(value, payload) {
  if (isObject(value) && value.v !== VERSION) return `has version ${String(value.v).slice(0, 20)}`;
  const field = misfit(value, shapeOf(payload)) ?? contradiction(/** @type {State} */ (value));
  return field === null ? "" : `has no valid ${field.slice(0, LONGEST_NAME) || "entry"}`;
}

/** The first field that another one rules out, or null. @param {State} state */
function contradiction({ act1, act2 }) {
  if ((act1.prediction === null) !== (act1.locked_at === null)) return "act1.prediction";
  if ((act2.prediction === null) !== (act2.locked_at === null)) return "act2.prediction";
  return act1.revealed && !act1.locked_at ? "act1.revealed" : null;
}

/**
 * What the browser keeps of the mission.
 * @param {import("../record.js").Store} store
 * @param {Payload} payload
 * @returns {{state: State | null, problem: string}} neither where nothing is kept
 */
export function kept(store, payload) {
  const text = store.getItem(MISSION);
  if (text === null) return { state: null, problem: "" };
  const entries = parsed(text);
  if (!isObject(entries)) return { state: null, problem: "cannot be read" };
  if (!Object.hasOwn(entries, NAME)) return { state: null, problem: "" };
  const entry = entries[NAME];
  if (!isObject(entry)) return { state: null, problem: "cannot be read" };
  const { at, ...state } = entry;
  const problem = isTime(at) ? problemOf(state, payload) : "does not say when it was kept";
  return problem ? { state: null, problem } : { state: /** @type {State} */ (/** @type {unknown} */ (state)), problem: "" };
}

/**
 * Take over what the page's checks keep. Where a check keeps nothing, it is given the prediction of a
 * mission from before the questions were checks.
 * @param {import("../record.js").Store} store
 * @param {State} state
 * @returns {boolean} whether a check was given one
 */
export function agree(store, state) {
  const entries = readEntries(store, CHECKS);
  let given = false;
  for (const [id, act] of Object.entries(QUESTIONS)) {
    const { prediction, locked_at: at } = state[act];
    const entry = entries[id];
    // A record may write a time in another zone, which no state of ours has.
    if (entry) predict(state, id, Number(entry.value), new Date(entry.at).toISOString());
    else if (at) {
      const old = act === "act1" ? { kind: "choice", value: LETTERS.indexOf(String(prediction)) + 1 } : { kind: "number", value: prediction };
      given = saveEntry(store, CHECKS, id, { ...old, text: "", at }) || given;
    }
  }
  return given;
}
