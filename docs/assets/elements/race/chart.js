// The race as a chart, as a table and in words: points in, a chart's description and texts out. All but
// the legend and the tables at the end is pure.

import { keyOf, toElement } from "../chart/drawing.js";
import { html, svg } from "../mission/draw.js";
import { AGREEMENT, BATCHES, LESSON_WIDTH, PRODUCTS, ascending, crossover, groupOf, quartile, sizeOf } from "./plan.js";
import { coarse, rate, rounded, write } from "../quantities.js";

/** @typedef {import("./race.js").Point} Point */
/** @typedef {import("./race.js").Gap} Gap */
/** @typedef {import("./race.js").Points} Points */
/** @typedef {import("../quantities.js").Unit} Unit */
/**
 * A curve that a result file holds.
 * @typedef {object} Recorded
 * @property {string} racer
 * @property {string} label
 * @property {string} [card] its name, where it is forecast too
 * @property {{[width: string]: {[batch: string]: number}}} [steps] samples per second
 * @property {{[n: string]: number}} [products] FLOP per second
 */
/** @typedef {[value: number, text: string, low: number, high: number, band: string]} Told */
/** What PyTorch would reach on a card, in samples per second. @typedef {{label: string, steps: {[width: string]: {[batch: string]: Told}}}} Forecast */
/** @typedef {{size: number, value: number, low: number, high: number, text: string, band?: string}} Spot */
/**
 * One line of the chart.
 * @typedef {object} Series
 * @property {string} id also its class
 * @property {string} name in full
 * @property {string} short
 * @property {Spot[]} spots
 */
/** @typedef {import("../chart/drawing.js").Plane} Plane */
/** @typedef {import("../chart/drawing.js").Series} Line */
/** @typedef {import("../chart/drawing.js").Mark} Mark */

const LESSON_GROUP = `width_${LESSON_WIDTH}`;
const COMPARED = `agrees within ${100 * AGREEMENT} %`;
/** @type {{[racer: string]: number}} the numbers of their colours */
const COLORS = { browser_cpu: 1, cpu: 1, browser_gpu: 2, cuda: 2, software: 3, forecast: 2 };
const FORECAST = "forecast for PyTorch, from the operations of the step, the rates of the card and the trip of the batch";
const SHORT = { browser_cpu: "CPU, browser", browser_gpu: "GPU, browser", software: "Software adapter" };

/** @param {number} count */
const grouped = (count) => count.toLocaleString("en");

/** @param {string} group */
const isProduct = (group) => group === "product";

/** @param {string} group @returns {Unit} */
const unitOf = (group) => (isProduct(group) ? "flop_per_s" : "samples_per_s");

/** What is raced, for people. @param {string} group */
export function titleOf(group) {
  if (isProduct(group)) return "Matrix products";
  const width = Number(group.slice("width_".length));
  const layers = `784, ${grouped(width)}, ${grouped(width / 2)} and 10 units`;
  return width === LESSON_WIDTH ? `The lesson’s model: ${layers}` : `A model of ${layers}`;
}

/** @param {string} group @param {number} size */
export const sizeWords = (group, size) => (isProduct(group) ? `n = ${grouped(size)}` : `batch ${grouped(size)}`);

// Lines

/**
 * The lines of a group: what was raced here, and what was recorded elsewhere.
 * @param {Points} points
 * @param {string} group
 * @param {Recorded[]} recorded
 * @param {boolean} [read] whether the lines with the loss read at every step are shown too
 * @returns {Series[]}
 */
export function seriesOf(points, group, recorded, read = false) {
  const raced = /** @type {const} */ ([["browser_cpu", false], ["browser_gpu", false], ["browser_gpu", true]]);
  const live = raced.flatMap(([racer, software]) => {
    const found = points.of(group, racer, software);
    const [first] = found;
    if (!first) return [];
    const id = software ? "software" : racer;
    const { name } = first.facts;
    const all = [{ id, name, short: SHORT[id], spots: found.map(spotOf) }];
    const spots = read ? found.flatMap(readSpot) : [];
    if (spots.length) all.push({ id: `${id} read`, name: `${name}, loss read at every step`, short: "", spots });
    return all;
  });
  return [...live, ...recorded.flatMap((curve) => recordedSeries(curve, group))];
}

/** A point with its quartiles: one sample that went wrong moves no axis. @param {Point} point @returns {Spot} */
function spotOf({ task, amount, samples, time }) {
  const { value, spread: apart } = rate(amount, time);
  const text = write(value, unitOf(groupOf(task)), apart);
  const sorted = ascending(samples);
  return { size: sizeOf(task), value, low: amount / quartile(sorted, 3), high: amount / quartile(sorted, 1), text };
}

/** @param {Point} point @returns {Spot[]} */
function readSpot({ task, amount, readS }) {
  if (readS === null) return [];
  const value = amount / readS;
  return [spotAt(sizeOf(task), value, groupOf(task))];
}

/** A value without a spread. @param {number} size @param {number} value @param {string} group @returns {Spot} */
const spotAt = (size, value, group) => ({ size, value, low: value, high: value, text: write(value, unitOf(group)) });

/** @param {Recorded} curve @param {string} group @returns {Series[]} */
function recordedSeries({ racer, label, steps = {}, products = {} }, group) {
  const values = isProduct(group) ? products : steps[group.slice("width_".length)] ?? {};
  const spots = Object.entries(values)
    .map(([size, value]) => spotAt(Number(size), value, group))
    .sort((one, other) => one.size - other.size);
  const short = racer === "cpu" ? "CPU, recorded" : "GPU, recorded";
  return spots.length ? [{ id: `recorded ${racer}`, name: label, short, spots }] : [];
}

/** What would be reached by forecast. @param {Forecast | null} forecast @param {string} group @returns {Series[]} */
export function forecastSeries(forecast, group) {
  const told = forecast?.steps[group.slice("width_".length)] ?? {};
  const spots = Object.entries(told)
    .map(([size, [value, text, low, high, band]]) => ({ size: Number(size), value, text, low, high, band }))
    .sort((one, other) => one.size - other.size);
  if (!forecast || !spots.length) return [];
  return [{ id: "forecast", name: `PyTorch on the ${forecast.label}, by forecast`, short: `${forecast.label}, forecast`, spots }];
}

// Words

/** The times of both racers, by size. @param {Points} points @param {string} group */
function timesOf(points, group) {
  const gpu = new Map(points.of(group, "browser_gpu").map((point) => [sizeOf(point.task), point]));
  return points.of(group, "browser_cpu").map((point) => {
    const other = gpu.get(sizeOf(point.task));
    return { size: sizeOf(point.task), cpu: point.time.median, gpu: other?.time.median };
  });
}

/** Where the GPU takes the lead for good, so far. @param {Points} points @param {string} group */
export const crossingOf = (points, group) => crossover(timesOf(points, group));

/** Who leads where, in one or two sentences; empty while only one racer has times. @param {Points} points @param {string} group */
export function verdictOf(points, group) {
  const times = timesOf(points, group);
  const both = times.filter(({ gpu }) => gpu !== undefined);
  const last = both.at(-1);
  if (!last || last.gpu === undefined) return "";
  const from = crossover(times);
  const words = (/** @type {number} */ size) => sizeWords(group, size);
  const factor = rounded(Math.max(last.cpu / last.gpu, last.gpu / last.cpu));
  const fast = factor === "1.00" ? "as fast as" : `${factor} times as fast as`;
  const lead = (/** @type {string} */ one, /** @type {string} */ other) => `At ${words(last.size)} ${one} is ${fast} ${other}.`;
  if (from === null) {
    const ahead = both.some(({ cpu, gpu = cpu }) => gpu < cpu);
    const none = ahead ? "The GPU does not stay ahead." : "So far, the GPU is faster at no size.";
    return `${none} ${lead("the browser’s CPU", "the GPU")}`;
  }
  const where = from === both[0]?.size ? `At every size that both measured, from ${words(from)} on` : `From ${words(from)} on`;
  return `${where}, the GPU is faster than the browser’s CPU. ${lead("the GPU", "the browser’s CPU")}`;
}

/**
 * Where a card would be ahead of what the CPU reached here, over its whole band; empty without either.
 * @param {Points} points
 * @param {string} group
 * @param {Forecast | null} forecast
 */
export function forecastVerdict(points, group, forecast) {
  const [series] = forecastSeries(forecast, group);
  const lows = new Map(series?.spots.map(({ size, low, high }) => [size, { low, high }]));
  const both = points.of(group, "browser_cpu").flatMap((point) => {
    const band = lows.get(sizeOf(point.task));
    return band ? [{ size: sizeOf(point.task), cpu: point.amount / point.time.median, ...band }] : [];
  });
  if (!forecast || !both.length) return "";
  const name = `PyTorch on the ${forecast.label}`;
  const surely = crossover(both.map(({ size, cpu, low }) => ({ size, cpu: 1 / cpu, gpu: 1 / low })));
  if (surely !== null) return `By forecast ${name} is ahead of this browser’s CPU over its whole band from ${sizeWords(group, surely)} on.`;
  const behind = both.every(({ cpu, high }) => high < cpu);
  return `By forecast ${name} is ${behind ? "behind this browser’s CPU at every size" : "surely ahead of this browser’s CPU at no size up to the largest"}.`;
}

/**
 * How a GPU that was recorded lies to the forecast beside it; empty without either.
 * @param {Recorded[]} recorded
 * @param {string} group
 * @param {Forecast | null} forecast
 */
export function bandVerdict(recorded, group, forecast) {
  const [{ spots = [] } = {}] = forecastSeries(forecast, group);
  const pairs = recorded.filter(({ racer }) => racer === "cuda").flatMap((curve) =>
    recordedSeries(curve, group).flatMap((series) => series.spots).flatMap(({ size, value }) => {
      const band = spots.find((spot) => spot.size === size);
      return band ? [{ size, value, band, same: curve.card === forecast?.label }] : [];
    }),
  );
  const same = pairs.filter((pair) => pair.same);
  const outside = same.filter(({ value, band }) => value < band.low || value > band.high);
  if (outside.length) return `Outside its band is what the ${forecast?.label} did at ${outside.map(({ size }) => sizeWords(group, size)).join(" and ")}.`;
  if (same.length) return `What was recorded on the ${forecast?.label} lies within its band.`;
  if (!pairs.some(({ value, band }) => band.value > value)) return "";
  return "Where a step waits for its computer the card hardly matters, so a forecast can lie above what another card did beside a slower computer.";
}

/**
 * What the reader’s guess and the race come to.
 * @param {Points} points
 * @param {string} group
 * @param {number | null} guess the batch from which on the GPU wins; 0 for none, null for no guess
 */
export function guessVerdict(points, group, guess) {
  if (guess === null || group !== LESSON_GROUP) return "";
  const said = guess ? `from ${sizeWords(group, guess)} on` : "never";
  if (!timesOf(points, group).some(({ gpu }) => gpu !== undefined)) return `Your guess: ${said}. No GPU raced here to decide it.`;
  const from = crossingOf(points, group) ?? 0;
  if (from === guess) return `Your guess: ${said}, and so it is.`;
  if (!from) return `Your guess: ${said}. Here asking for the operations outweighs the arithmetic of every batch.`;
  if (!guess || from < guess) return `Your guess: ${said}. It takes less: ${sizeWords(group, from)} brings enough arithmetic to outweigh the asking.`;
  return `Your guess: ${said}. It takes more: smaller batches bring too little arithmetic to outweigh the asking.`;
}

/** For each model where the GPU takes the lead, once several were raced. @param {Points} points @returns {[model: string, lead: string][]} */
export function leadsOf(points) {
  const raced = points.groups.filter((group) => timesOf(points, group).some(({ gpu }) => gpu !== undefined));
  if (raced.length < 2) return [];
  return raced.map((group) => {
    const from = crossingOf(points, group);
    return [titleOf(group), from === null ? "never" : sizeWords(group, from)];
  });
}

/** One sentence on a size that is done with. @param {Points} points @param {import("./plan.js").Task} task */
export function sizeSentence(points, task) {
  const group = groupOf(task);
  const size = sizeWords(group, sizeOf(task));
  const here = (/** @type {Point | Gap} */ one) => groupOf(one.task) === group && sizeOf(one.task) === sizeOf(task);
  const said = points.all.filter(here).map((point) => {
    const { value, spread: apart } = rate(point.amount, point.time);
    return `${shortOf(point.racer, point.facts.software)} ${write(value, unitOf(group), apart)}`;
  });
  const missing = points.gaps.filter(here).map((gap) => `${shortOf(gap.racer, gap.software)} ${gap.reason}`);
  return `At ${size}: ${[...said, ...missing].join("; ")}.`;
}

/** @param {Point["racer"]} racer @param {boolean} software */
const shortOf = (racer, software) => SHORT[software ? "software" : racer];

/**
 * Every point as a row: size, racer, speed, spread, time, time with the loss read, warm-up, agreement.
 * @param {Points} points
 * @param {string} group
 * @param {Recorded[]} recorded
 * @param {Forecast | null} [forecast]
 * @returns {{cells: string[], gap: boolean}[]} a gap has size, racer and reason alone
 */
export function rowsOf(points, group, recorded, forecast = null) {
  const unit = unitOf(group);
  const live = points.all.filter(({ task }) => groupOf(task) === group).map((point) => {
    const { value, spread: apart, noisy } = rate(point.amount, point.time);
    const seconds = write(point.time.median, "s", point.time.spread);
    const read = point.readS === null ? "–" : write(point.readS, "s");
    const speed = write(value, unit, apart) + (noisy ? ", noisy" : "");
    const around = apart ? write(apart, unit, apart) : "–";
    const checked = point.compared ? COMPARED : "not compared";
    const warm = write(point.warmupMs / 1000, "s");
    const name = shortOf(point.racer, point.facts.software);
    return { size: sizeOf(point.task), cells: [name, speed, around, seconds, ...(isProduct(group) ? [] : [read]), warm, checked], gap: false };
  });
  const gaps = points.gaps.filter(({ task }) => groupOf(task) === group).map(({ task, racer, software, reason }) => {
    return { size: sizeOf(task), cells: [shortOf(racer, software), reason], gap: true };
  });
  const old = recorded.flatMap((curve) => recordedSeries(curve, group)).flatMap(({ short, spots }) => {
    return spots.map(({ size, value, text }) => {
      const seconds = write((isProduct(group) ? 2 * size ** 3 : size) / value, "s");
      return { size, cells: [short, text, "–", seconds, ...(isProduct(group) ? [] : ["–"]), "–", "recorded"], gap: false };
    });
  });
  const told = forecastSeries(forecast, group).flatMap(({ short, spots }) => {
    return spots.map(({ size, value, text, band = "" }) => {
      return { size, cells: [short, text, band, write(size / value, "s", coarse(size / value)), "–", "–", "forecast"], gap: false };
    });
  });
  return [...live, ...gaps, ...old, ...told]
    .sort((one, other) => one.size - other.size)
    .map(({ size, cells, gap }) => ({ cells: [grouped(size), ...cells], gap }));
}

// The drawing

/**
 * What is drawn of a group: its lines over all sizes that can be raced.
 * @param {Series[]} series
 * @param {{group: string, crossing: number | null, now?: number | null, guess?: number | null}} options now: the size that is being raced
 * @returns {Plane}
 */
export function describe(series, { group, crossing, now = null, guess = null }) {
  const sizes = isProduct(group) ? PRODUCTS : BATCHES;
  const [title, unit] = isProduct(group) ? ["FLOP per second", "flop_per_s"] : ["Samples per second", "short_count"];
  const ticks = sizes.map((size) => /** @type {[number, string]} */ ([size, grouped(size)]));
  const named = isProduct(group) ? "n, of two n × n matrices" : "Batch size";
  const below = { title: named, low: sizes[0] ?? 1, high: sizes.at(-1) ?? 2, ticks, log: true, ...(now === null ? {} : { now }) };
  // What is raced here lies over what was recorded.
  const lines = [...series].reverse().map((one) => lineOf(one, sizes));
  /** @type {Plane} */
  const plane = { shape: "plane", below, title, unit, log: true, key: false, series: lines };
  if (guess && group === LESSON_GROUP && sizes.includes(guess)) plane.guess = [guess, "your guess"];
  return crossing === null ? plane : { ...plane, lead: [crossing, `GPU ahead from ${grouped(crossing)} on`] };
}

/** A line with a place for every size, so that none leads over a size that is missing. @param {Series} one @param {number[]} sizes @returns {Line} */
function lineOf({ id, name, spots }, sizes) {
  const points = sizes.map((size) => /** @type {[number, Mark]} */ ([size, markOf(spots.find((spot) => spot.size === size), id)]));
  return { label: name, color: COLORS[id.split(" ").find((part) => part in COLORS) ?? ""] ?? 1, dash: dashOf(id), points };
}

/** @param {Spot | undefined} spot @param {string} id @returns {Mark} */
function markOf(spot, id) {
  if (!spot) return { value: null };
  const { value, low, high, text, band } = spot;
  if (id === "forecast") return { kind: "forecast", value, text, low, high, band, source: FORECAST };
  const source = id.startsWith("recorded") ? "recorded on another machine" : "in this browser, from the lower to the upper quartile";
  return { value, text, source, ...(low < high ? { low, high } : {}) };
}

/** Lines are told apart without colour too: the CPU's whole, the GPU's broken, others' dotted. @param {string} id */
function dashOf(id) {
  if (id.startsWith("recorded")) return id.includes("cpu") ? "1 3" : "2 4";
  if (id === "forecast") return ""; // its band tells it apart
  if (id.includes("read")) return "8 4 2 4";
  return id.includes("cpu") ? "" : "8 4";
}

/** Which line is which, and how far it has come. @param {Series[]} series @param {string} group */
export function legendOf(series, group) {
  const items = series.map((one) => {
    const [sample] = keyOf(lineOf(one, one.spots.map(({ size }) => size)));
    const last = one.spots.at(-1);
    const band = last?.band ? `, ${last.band},` : "";
    const speed = last ? `${last.text}${band} at ${sizeWords(group, last.size)}` : "";
    return html(
      "li",
      {},
      svg("svg", { class: "chart-drawing plane", width: 40, height: 18, "aria-hidden": "true" }, ...sample.map(toElement)),
      html("span", { class: "race-name" }, one.name),
      html("span", { class: "race-speed" }, speed),
    );
  });
  return html("ul", { class: "race-legend" }, ...items);
}

/** @param {[model: string, lead: string][]} leads */
export function leadsTable(leads) {
  const rows = leads.map(([model, from]) => html("tr", {}, html("th", { scope: "row" }, model), html("td", {}, from)));
  const head = ["Raced", "GPU ahead from"].map((words) => html("th", { scope: "col" }, words));
  return html("table", { class: "results-table race-leads" }, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

/** The chart's table. @param {ReturnType<typeof rowsOf>} rows @param {string} group */
export function tableOf(rows, group) {
  const size = isProduct(group) ? "n" : "Batch size";
  const one = isProduct(group) ? ["One product"] : ["One step", "Loss read at every step"];
  const head = [size, "Racer", "Speed", "Spread", ...one, "Warm-up", "Against the other racer"];
  const body = rows.map(({ cells: [name, ...cells], gap }) => {
    const made = cells.map((cell, index) => {
      const last = gap && index === cells.length - 1;
      return html("td", last ? { colspan: head.length - 2, class: "race-gap" } : {}, cell);
    });
    return html("tr", {}, html("th", { scope: "row" }, name), ...made);
  });
  return html(
    "table",
    { class: "results-table race-table" },
    html("caption", {}, titleOf(group)),
    html("thead", {}, html("tr", {}, ...head.map((words) => html("th", { scope: "col" }, words)))),
    html("tbody", {}, ...body),
  );
}
