// The race as a picture, as a table and in words: points in, geometry and texts out, and from those
// the SVG. All but the drawing at the end is pure.

import { html, svg } from "../mission/draw.js";
import { spread } from "../mission/ledger-chart.js";
import { AGREEMENT, BATCHES, LESSON_WIDTH, PRODUCTS, ascending, crossover, groupOf, quartile, sizeOf } from "./plan.js";
import { rate, rounded, write } from "../quantities.js";

/** @typedef {import("./race.js").Point} Point */
/** @typedef {import("./race.js").Gap} Gap */
/** @typedef {import("./race.js").Points} Points */
/** @typedef {import("../quantities.js").Unit} Unit */
/**
 * A curve that a result file holds.
 * @typedef {object} Recorded
 * @property {string} racer
 * @property {string} label
 * @property {{[width: string]: {[batch: string]: number}}} [steps] samples per second
 * @property {{[n: string]: number}} [products] FLOP per second
 */
/** @typedef {{size: number, value: number, low: number, high: number, text: string}} Spot */
/**
 * One line of the chart.
 * @typedef {object} Series
 * @property {string} id also its class
 * @property {string} name in full
 * @property {string} short at the end of its line
 * @property {Spot[]} spots
 */
/** @typedef {{x: number, y: number, low: number, high: number}} Mark */
/**
 * The chart in pixels.
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {{x: number, text: string, now: boolean}[]} sizes the axis below; now: is being raced
 * @property {{y: number, text: string}[]} ticks the axis to the left; a text may be empty
 * @property {{id: string, d: string, marks: Mark[]}[]} lines
 * @property {{id: string, x: number, y: number, text: string}[]} labels
 * @property {{x: number, wordsAt: number, words: string} | null} crossing
 * @property {{left: number, right: number, top: number, bottom: number}} plane
 * @property {[string, string]} titles of the axes
 */

const WIDE = 560; // from which on the lines are named at their ends
const TOP = 48;
const BELOW = 46;
const LINE = 19;
const INSET = 14; // of the first and the last size from the plane's edge
const LETTER = 9; // pixels that a letter of the crossing's words takes at most
const STEPS = [1, 2, 5];
const COMPARED = `agrees within ${100 * AGREEMENT} %`;
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
 * @returns {{cells: string[], gap: boolean}[]} a gap has size, racer and reason alone
 */
export function rowsOf(points, group, recorded) {
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
  return [...live, ...gaps, ...old]
    .sort((one, other) => one.size - other.size)
    .map(({ size, cells, gap }) => ({ cells: [grouped(size), ...cells], gap }));
}

// Geometry

/**
 * Where everything lies.
 * @param {Series[]} series
 * @param {{group: string, width: number, crossing: number | null, now?: number | null}} options width: in pixels; now: the size that is being raced
 * @returns {Layout}
 */
export function layoutOf(series, { group, width, crossing, now = null }) {
  const wide = width >= WIDE;
  const height = wide ? 420 : 340;
  const plane = { left: wide ? 72 : 62, right: width - (wide ? 116 : 6), top: TOP, bottom: height - BELOW };
  const sizes = isProduct(group) ? PRODUCTS : BATCHES;
  const spots = series.flatMap((one) => one.spots);
  const ends = rangeOf(spots.flatMap(({ low, high }) => [low, high]));
  const x = scale([sizes[0] ?? 1, sizes.at(-1) ?? 2], [plane.left + INSET, plane.right - INSET]);
  const y = scale(ends, [plane.bottom, plane.top]);
  return {
    ...{ width, height, plane },
    sizes: sizes.map((size) => ({ x: x(size), text: wide ? grouped(size) : String(size), now: size === now })),
    ticks: ticksOf(ends).map(({ value, named }) => ({ y: y(value), text: named ? tickText(value, group) : "" })),
    // What is raced here lies over what was recorded.
    lines: [...series].reverse().map((one) => lineOf(one, sizes, x, y)),
    labels: wide ? labelsOf(series, x, y, plane) : [],
    crossing: crossing === null ? null : crossingAt(crossing, sizes, x, plane, wide ? sizeWords(group, crossing) : grouped(crossing)),
    titles: isProduct(group) ? ["n, of two n × n matrices", "FLOP per second"] : ["batch size", "samples per second"],
  };
}

/** @param {[number, number]} values @param {[number, number]} pixels both logarithmic */
function scale([low, high], [start, end]) {
  const span = Math.log(high / low);
  return (/** @type {number} */ value) => start + ((end - start) * Math.log(value / low)) / span;
}

/** Round ends around the values: 1, 2 or 5 times a power of ten, at least a factor of ten apart. @param {number[]} values @returns {[number, number]} */
export function rangeOf(values) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  if (!values.length) return [1e3, 1e5];
  const round = [...stepsFrom(least / 10, most * 100)];
  const low = round.filter((step) => step <= least * 0.9).at(-1) ?? least;
  const high = round.find((step) => step >= most * 1.1 && step >= 9.99 * low) ?? most;
  return [low, high];
}

/** @param {number} low @param {number} high @returns {Generator<number>} */
function* stepsFrom(low, high) {
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) for (const step of STEPS) yield step * 10 ** power;
}

/** Lines of the grid; those in between have names only where there are few. @param {[number, number]} ends */
function ticksOf([low, high]) {
  const within = [...stepsFrom(low, high)].filter((value) => value >= low * 0.999 && value <= high * 1.001);
  const isWhole = (/** @type {number} */ value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
  const few = within.filter(isWhole).length < 3;
  return within.filter((value) => few || isWhole(value) || within.length < 10).map((value) => ({ value, named: few || isWhole(value) }));
}

/** @param {number} value @param {string} group */
function tickText(value, group) {
  if (isProduct(group)) return write(value, "flop_per_s", value).replace("FLOP/s", "").trim();
  return value < 1e6 ? rounded(value, value) : `${rounded(value / 1e6, value / 1e6)} million`;
}

/** @param {Series} series @param {number[]} sizes @param {(size: number) => number} x @param {(value: number) => number} y */
function lineOf({ id, spots }, sizes, x, y) {
  const marks = spots.map(({ size, value, low, high }) => ({ x: x(size), y: y(value), low: y(low), high: y(high) }));
  // Over a size that is missing no line leads.
  const steps = spots.map(({ size }, index) => {
    const before = spots[index - 1]?.size;
    const next = before !== undefined && sizes.indexOf(size) === sizes.indexOf(before) + 1;
    return `${next ? "L" : "M"}${at(marks[index]?.x)} ${at(marks[index]?.y)}`;
  });
  return { id, marks, d: steps.join("") };
}

/** @param {number} [pixels] */
const at = (pixels = 0) => Math.round(pixels * 10) / 10;

/**
 * Names at the ends of lines; those at the same size keep apart.
 * @param {Series[]} series
 * @param {(size: number) => number} x
 * @param {(value: number) => number} y
 * @param {Layout["plane"]} plane
 */
function labelsOf(series, x, y, plane) {
  const ends = series.flatMap(({ id, short, spots }) => {
    const last = spots.at(-1);
    return last && short ? [{ id, text: short, size: last.size, y: y(last.value) }] : [];
  });
  return [...new Set(ends.map(({ size }) => size))].flatMap((size) => {
    const here = ends.filter((end) => end.size === size).sort((one, other) => one.y - other.y);
    const places = spread(here.map((end) => end.y), LINE, plane.top + LINE / 2, plane.bottom - LINE / 2);
    return here.map(({ id, text }, index) => ({ id, text, x: x(size) + 12, y: at((places[index] ?? 0) + 5) }));
  });
}

/**
 * Where the GPU takes the lead, and its words, which stay within the plane.
 * @param {number} size @param {number[]} sizes @param {(size: number) => number} x @param {Layout["plane"]} plane @param {string} named the size in words
 */
function crossingAt(size, sizes, x, { left, right }, named) {
  // From the first size on: everywhere.
  const place = size === sizes[0] ? left : x(size);
  const words = `GPU ahead from ${named} on`;
  const wordsAt = Math.max(left, Math.min(place, right - words.length * LETTER));
  return { x: at(place), wordsAt: at(wordsAt), words };
}

// Drawing

/** @type {{[id: string]: string}} */
const SHAPES = {
  circle: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0",
  square: "M-4.6-4.6h9.2v9.2h-9.2z",
  triangle: "M0-5.8L5.6 4.4H-5.6z",
};

/** Each racer has a shape, so that colour is not needed. @param {string} id */
const shapeOf = (id) => SHAPES[id.includes("cpu") ? "circle" : id.includes("software") ? "triangle" : "square"] ?? "";

/**
 * The chart.
 * @param {Layout} layout
 * @param {{title: string, description: string, name: string}} words name: what its ids begin with
 */
export function drawn(layout, { title, description, name }) {
  const { width, height, plane, crossing } = layout;
  const ids = { title: `${name}-title`, description: `${name}-description` };
  return svg(
    "svg",
    { class: "race-chart", role: "img", width, height, viewBox: `0 0 ${width} ${height}`, "aria-labelledby": ids.title, "aria-describedby": ids.description },
    svg("title", { id: ids.title }, title),
    svg("desc", { id: ids.description }, description),
    ...(crossing ? lead(crossing, plane) : []),
    ...axes(layout),
    ...layout.lines.map(drawnLine),
    ...layout.labels.map(({ id, x, y, text }) => svg("text", { class: `race-label ${id}`, x, y }, text)),
    crossing ? svg("text", { class: "race-words", x: crossing.wordsAt, y: TOP - 10 }, crossing.words) : null,
  );
}

/** @param {NonNullable<Layout["crossing"]>} crossing @param {Layout["plane"]} plane */
function lead({ x }, { top, right, bottom }) {
  return [
    svg("rect", { class: "race-lead", x, y: top, width: right - x, height: bottom - top }),
    svg("line", { class: "race-crossing", x1: x, x2: x, y1: top - 4, y2: bottom }),
  ];
}

/** @param {Layout} layout */
function axes({ plane, sizes, ticks, titles }) {
  const { left, right, top, bottom } = plane;
  return [
    ...ticks.map(({ y, text }) => svg("line", { class: text ? "race-grid" : "race-grid fine", x1: left, x2: right, y1: at(y), y2: at(y) })),
    ...ticks.map(({ y, text }) => svg("text", { class: "race-tick end", x: left - 8, y: at(y + 4) }, text)),
    svg("line", { class: "race-base", x1: left, x2: right, y1: bottom, y2: bottom }),
    ...sizes.map(({ x }) => svg("line", { class: "race-base", x1: at(x), x2: at(x), y1: bottom, y2: bottom + 5 })),
    ...sizes.map(({ x, text, now }) => svg("text", { class: now ? "race-tick middle now" : "race-tick middle", x: at(x), y: bottom + 20 }, text)),
    svg("text", { class: "race-title", x: 0, y: top - 32 }, titles[1]),
    svg("text", { class: "race-title end", x: right, y: bottom + 40 }, titles[0]),
  ];
}

/** @param {Layout["lines"][number]} line */
function drawnLine({ id, d, marks }) {
  const shape = shapeOf(id);
  return svg(
    "g",
    { class: `race-line ${id}` },
    svg("path", { class: "race-curve", d }),
    ...marks.map(({ x, low, high }) => svg("path", { class: "race-whisker", d: `M${at(x)} ${at(low)}V${at(high)}` })),
    ...marks.map(({ x, y }) => svg("path", { class: "race-mark", d: shape, transform: `translate(${at(x)} ${at(y)})` })),
  );
}

/** Which line is which, and how far it has come. @param {Series[]} series @param {string} group */
export function legendOf(series, group) {
  const items = series.map(({ id, name, spots }) => {
    const sample = svg(
      "svg",
      { class: `race-line ${id}`, width: 40, height: 16, viewBox: "0 0 40 16", "aria-hidden": "true" },
      svg("path", { class: "race-curve", d: "M1 8H39" }),
      svg("path", { class: "race-mark", d: shapeOf(id), transform: "translate(20 8)" }),
    );
    const last = spots.at(-1);
    const speed = last ? `${last.text} at ${sizeWords(group, last.size)}` : "";
    return html("li", {}, sample, html("span", { class: "race-name" }, name), html("span", { class: "race-speed" }, speed));
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
