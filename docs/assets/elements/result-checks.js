// What no schema can say of a result file, and a few lines can. Pure.
//
// The rules are those of results/result_file.py. What follows from the catalogue stays with
// Python: which cases and entries there are, their units, and the figures that several of them give.

import { summary } from "./race/plan.js";
import { rate, write } from "./quantities.js";

/** @typedef {{[field: string]: any}} Json */

const DAY_MS = 86_400_000;
const DEEPEST = 20;
const SHORTEST_S = 1e-9;
/** @type {{[unit: string]: number}} */
const LARGEST_SAMPLE = { percent: 110, bytes: 1e15, samples: 1e12, epochs: 1e6 };
const UNSEEN = /\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/u;

/**
 * What JSON allows and no result file may have; empty if there is nothing.
 * @param {string} text
 * @param {unknown} value what the text says
 */
export function oddity(text, value) {
  const seen = { keys: 0 };
  const found = oddityIn(value, seen, 0);
  return found || (seen.keys < keysIn(text) ? "it has a key twice" : "");
}

/** @param {unknown} value @param {{keys: number}} seen @param {number} depth @returns {string} */
function oddityIn(value, seen, depth) {
  if (depth > DEEPEST) return "it is nested too deeply";
  if (typeof value === "string" && UNSEEN.test(value)) return "it has a character that nobody sees";
  if (typeof value === "number" && !Number.isFinite(value)) return "it has a number beyond all numbers";
  if (typeof value !== "object" || value === null) return "";
  for (const [name, part] of Object.entries(value)) {
    if (!Array.isArray(value)) seen.keys += 1;
    const found = oddityIn(name, seen, depth) || oddityIn(part, seen, depth + 1);
    if (found) return found;
  }
  return "";
}

/** How many keys a JSON text writes: strings with a colon after them. @param {string} text */
function keysIn(text) {
  let keys = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    let end = start + 1;
    while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    let after = end + 1;
    while (/\s/.test(text[after] ?? "")) after += 1;
    if (text[after] === ":") keys += 1;
    start = text.indexOf('"', end + 1);
  }
  return keys;
}

/**
 * The first thing in a result that cannot be, with its place; empty if there is none.
 * @param {Json} result one that the schema allows
 * @param {number} now in milliseconds
 */
export function contradiction(result, now) {
  for (const found of contradictions(result, now + DAY_MS)) return found;
  return "";
}

/** @param {Json} result @param {number} latest @returns {Generator<string>} */
function* contradictions({ provenance, cases, figures }, latest) {
  yield* impossibleTime("provenance.date", provenance.date, `${provenance.date}T00:00Z`, latest);
  const told = provenance.gpu_details !== null;
  if (provenance.engine !== undefined && (told || provenance.cuda !== null))
    yield "At provenance: a browser tells neither gpu_details nor cuda, and engine names one";
  if (provenance.engine === undefined && told !== (provenance.gpu !== null))
    yield "At provenance.gpu_details: they contradict provenance.gpu";
  for (const [name, parts] of Object.entries(cases)) {
    const seen = new Set();
    for (const [part, content] of Object.entries(/** @type {Json} */ (parts))) {
      const place = `cases.${name}.${part}`;
      yield* impossibleTime(`${place}.finished`, content.finished, content.finished, latest);
      for (const [entry, of] of Object.entries(content.entries ?? {})) {
        const at = `At ${place}.entries.${entry}`;
        if (seen.has(entry)) yield `${at}: another part has it too`;
        seen.add(entry);
        for (const found of wrongEntry(entry, of, provenance)) yield `${at}${found}`;
        if (seconds(of) > 1.05 * content.took_s + 0.1)
          yield `${at}.samples: they sum to more than the part’s took_s`;
        const figure = `${name}.${entry}`;
        if (Object.hasOwn(figures, figure) && !follows(figures[figure], of))
          yield `At figures.${figure}: it does not follow from the samples`;
      }
    }
  }
}

/** @param {string} place @param {string} written @param {string} minute @param {number} latest */
function* impossibleTime(place, written, minute, latest) {
  const time = Date.parse(minute);
  // Some engines read 31 February as a day in March.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(minute.replace("Z", "")))
    yield `At ${place}: there is no ${written}`;
  else if (time > latest) yield `At ${place}: ${written} lies in the future`;
}

/** The time that samples and warm-ups took; none for what is no time. @param {Json} entry */
function seconds({ unit, samples, loops = 1, warmups = [] }) {
  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((a, b) => a + b, 0);
  return unit === "s" ? sum(samples) * loops + sum(warmups) : 0;
}

/** @param {string} name @param {Json} entry @param {Json} provenance @returns {Generator<string>} */
function* wrongEntry(name, entry, provenance) {
  const { samples, unit } = entry;
  const expected = /** @type {Json} */ (summary(samples));
  if (unit === "s" && expected.smallest < SHORTEST_S)
    yield `.samples: ${expected.smallest} s is shorter than any measured time`;
  if (expected.largest > (LARGEST_SAMPLE[unit] ?? Infinity))
    yield `.samples: no machine gives ${expected.largest} ${unit}`;
  for (const key of ["median", "smallest", "largest", "spread"])
    if (!close(entry[key], expected[key]))
      yield `.${key}: it is ${entry[key]}, and the samples give ${expected[key]}`;
  if (entry.noisy !== expected.noisy) yield ".noisy: it contradicts the samples";
  if (entry.device_samples && entry.device_samples.length !== samples.length)
    yield ".device_samples: there are not as many as samples";
  const cuda = name.includes("cuda");
  const device = cuda ? "cuda" : name.includes("browser_gpu") ? "webgpu" : "cpu";
  if (entry.device !== device) yield `.device: ${entry.device} contradicts the entry’s name`;
  if (name.includes("browser") !== (provenance.engine !== undefined))
    yield ": provenance.engine contradicts the entry’s name";
  if (cuda && provenance.gpu === null) yield ": it ran on a GPU, and provenance.gpu names none";
}

/** Whether two numbers are the same but for rounding. @param {number} a @param {number} b */
const close = (a, b) =>
  Math.abs(a - b) <= Math.max(1e-12, 1e-9 * Math.max(Math.abs(a), Math.abs(b)));

/**
 * Whether a figure is what its entry gives: a figure of the same name is the median, or a rate.
 * @param {Json} figure @param {Json} entry
 */
function follows(figure, { unit, samples, amount }) {
  const time = summary(samples);
  const median = { value: time.median, spread: time.spread };
  const same = (/** @type {{value: number, spread: number}} */ { value, spread }) =>
    figure.noisy === time.noisy && close(figure.value, value) && close(figure.spread, spread);
  if (unit !== "s") return same(median);
  const said = (/** @type {typeof median} */ of, /** @type {import("./quantities.js").Unit} */ as) =>
    same(of) && figure.text === write(of.value, as, of.spread);
  if (said(median, "s") || amount === undefined) return said(median, "s");
  const worked = rate(amount, time);
  return said(worked, "samples_per_s") || said(worked, "flop_per_s");
}
