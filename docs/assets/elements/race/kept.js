// The points of a race as the learner's record keeps them. Pure. A record may have come from somebody
// else, so a point is taken only if it is whole, and what follows from its samples is computed anew.

import { isObject } from "../record.js";
import { BATCHES, PRODUCTS, WIDTHS, amountOf, summary } from "./plan.js";
import { RACERS } from "./race.js";

/** @typedef {import("./race.js").Point} Point */
/** @typedef {import("./plan.js").Task} Task */

const LONGEST = 300; // characters of a name
const MOST_SAMPLES = 100;
const SHORTEST_S = 1e-9; // than which no result file has a time
const LONGEST_S = 3600; // a point takes seconds, and a result file adds those of all sizes
const LARGEST = 1e18; // than which no result file has a number
const MOST_COUNTED = 1e6; // threads, and rounds of a sample
const MOMENT = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/; // as `toISOString` writes it
const LONGER = 1.05; // result-checks.js: what samples may take beyond the whole

/** @param {unknown} value @returns {value is number} */
const isTime = (value) => typeof value === "number" && value > 0 && value <= LARGEST;
/** @param {unknown} value @returns {value is number} */
const isCount = (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_COUNTED;
/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === "string" && value.length <= LONGEST;

/** The whole points among what was kept. @param {unknown} kept @returns {Point[]} */
export function pointsFrom(kept) {
  return Array.isArray(kept) ? kept.filter(isPoint).map((point) => ({ ...point, amount: amountOf(point.task), time: summary(point.samples) })) : [];
}

/** @param {unknown} value @returns {value is Point} */
function isPoint(value) {
  if (!isObject(value) || !isTask(value.task) || !isObject(value.facts)) return false;
  const { racer, facts, samples, readS, value: last, lasted, loops, warmupMs, at } = value;
  const { name, adapter, engine, software, threads } = facts;
  return (
    [name, engine, at].every(isText) &&
    (adapter === null || isText(adapter)) &&
    typeof software === "boolean" &&
    RACERS.some((known) => known === racer && known === facts.racer) &&
    Array.isArray(samples) && samples.length > 0 && samples.length <= MOST_SAMPLES && samples.every((sample) => isTime(sample) && sample >= SHORTEST_S) &&
    [threads, loops].every(isCount) &&
    [lasted, warmupMs].every(isTime) && Number(lasted) <= LONGEST_S &&
    (readS === null || isTime(readS)) &&
    samples.reduce((sum, sample) => sum + sample, 0) * Number(loops) <= LONGER * Number(lasted) &&
    typeof last === "number" && Math.abs(last) <= LARGEST &&
    MOMENT.test(String(at)) &&
    Date.parse(String(at)) > 0
  );
}

/** @param {unknown} task @returns {task is Task} */
function isTask(task) {
  if (!isObject(task)) return false;
  if (task.kind === "product") return PRODUCTS.includes(Number(task.n));
  return task.kind === "step" && WIDTHS.includes(Number(task.width)) && BATCHES.includes(Number(task.batch));
}

/** The day of the last of them, as people write it. @param {Point[]} points */
export function dayOf(points) {
  const last = points.map(({ at }) => at).sort().at(-1) ?? "";
  return new Date(last).toLocaleDateString("en-GB", { dateStyle: "long" });
}
