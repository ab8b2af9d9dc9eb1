// Draws a chart's description: the same elements at the same places as lesson_site/charts/drawing.py,
// which a test compares on random descriptions, and where each mark lies, so that it can be pointed at.
// Plain data in, plain data out, but for the last step into the page.

import { rounded, write } from "../quantities.js";

/** @typedef {import("../quantities.js").Unit} Unit */
/** @typedef {"measured" | "published" | "forecast" | "exact"} Kind */
/** @typedef {Kind | "contributed"} Look */
/**
 * One value; lesson_site/charts/description.py says what each field is, here and below.
 * @typedef {object} Mark
 * @property {number | null} value
 * @property {string} [text]
 * @property {Kind} [kind] measured, if it is not there
 * @property {string} [name]
 * @property {string} [own]
 * @property {number} [amount]
 * @property {string} [source]
 * @property {number} [low]
 * @property {number} [high]
 * @property {string} [band]
 * @property {boolean} [noisy]
 * @property {string} [by]
 */
/**
 * @typedef {{label: string, color: number, mark: Mark, own?: boolean, note?: string, guess?: boolean}} Row
 *   guess: whether this reader expected it to be best, which only the browser knows
 */
/** @typedef {{title: string, rows: Row[], limits?: Row[], card?: string, asked?: number}} Group */
/** @typedef {{shape: "rows", groups: Group[], unit: string, log?: boolean, check?: string}} Rows */
/**
 * @typedef {{label: string, color: number, points: [number, Mark][], dash?: string,
 *   style?: "line" | "step" | "points", own?: boolean}} Series
 */
/** @typedef {{title: string, low: number, high: number, ticks: [number, string][], log?: boolean, now?: number}} Below */
/**
 * @typedef {{shape: "plane", below: Below, title: string, unit: string, series: Series[], log?: boolean,
 *   key?: boolean, notes?: [number, number, string][], lead?: [number, string], guess?: [number, string], card?: string}} Plane
 *   guess: where this reader expected something, which only the browser knows
 */
/**
 * @typedef {{column: number, row: number, color: number, strength: number, words: string[], marks: Mark[],
 *   frame?: boolean}} Tile
 */
/**
 * @typedef {{shape: "tiles", titles: [string, string], columns: string[], rows: string[], tiles: Tile[], note?: string,
 *   names?: string[], card?: string}} Tiles
 */
/** @typedef {Rows | Plane | Tiles} Description */
/** @typedef {[tag: string, attributes: {[name: string]: string}, children: (Node | string)[]]} Node */
/** @typedef {{x: number, y: number, label: string, mark: Mark}} Spot x: percent of the width; y: pixels from the top */
/** @typedef {{nodes: Node[], height: number, spots: Spot[]}} Drawing */
/** @typedef {{low: number, high: number, ticks: [number, string][], log: boolean}} Axis */

export const CARD = "{card}";
const SPACE = "\u00a0";
const GUTTER = 12;
const END = 95;
const TOP = 30;
const BOTTOM = 230;
const HAIRS = 12;
/** @type {{[kind: string]: string}} */
const KINDS = {
  measured: "measured",
  published: "published by others",
  forecast: "forecast and its band",
  exact: "exact",
  contributed: "measured by readers",
};
const POINTED = ["published", "contributed"];
/** @type {{[kind: string]: string}} */
const SHAPES = {
  published: "M-5-5L5 5M-5 5L5-5",
  exact: "M-5-5H5V5H-5Z",
  contributed: "M0-7L7 5H-7Z",
  own: "M0-7L7 0L0 7L-7 0Z",
};
const PENNANT = "M-13 5V-8L-2-3.5L-13 1";
export const YOUR_GUESS = "your guess";
const LOG_NOTE = "Logarithmic axis: equal steps multiply alike.";
const HALF_LINE = 15;
const LARGE = 6;
const SMALL = 4;
const ALIKE = 1.05;
const BESIDE = 32;
/** @type {[number, string][]} */
const PREFIXES = [[1e6, "M"], [1e3, "k"]];
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LONG = 6;

/** @param {Description} description @returns {Drawing} */
export function draw(description) {
  if (description.shape === "rows") return rows(description);
  return description.shape === "plane" ? plane(description) : tiles(description);
}

/** What its shape says of it. @param {Mark} mark @returns {Look} */
export const kindOf = (mark) => (mark.by ? "contributed" : (mark.kind ?? "measured"));

/** A value as its label says it. @param {Mark} mark */
export function said(mark) {
  const text = mark.text ?? "";
  if (kindOf(mark) === "forecast") return `forecast ${text}`;
  if (kindOf(mark) === "published") return `${text}, published`;
  return mark.noisy ? `${text} (noisy)` : text;
}

/** @param {Mark} mark */
const known = (mark) => mark.value !== null && mark.value !== undefined;

// Axes

/** @param {number[]} values @param {string} unit @param {boolean} log @returns {Axis} */
function axisOf(values, unit, log) {
  return log ? logAxis(values, unit) : linearAxis(values, unit);
}

/** @param {number[]} values @param {string} unit @returns {Axis} */
export function logAxis(values, unit) {
  const low = values.length ? Math.floor(Math.log10(Math.min(...values)) - 0.33) : 0;
  const high = values.length ? Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)))) : 1;
  /** @type {[number, string][]} */
  const ticks = [];
  for (let at = low; at <= high; at += high - low <= 5 ? 1 : 2) ticks.push([power(at), writtenPower(at, unit)]);
  return { low: power(low), high: power(high), ticks, log: true };
}

/** A power of ten; many seconds need less room as a power. @param {number} at @param {string} unit */
function writtenPower(at, unit) {
  if (unit === "s" && at >= LONG) return `10${[...String(at)].map((digit) => RAISED[Number(digit)]).join("")}${SPACE}s`;
  return written(power(at), unit, power(at));
}

/** @param {number[]} values @param {string} unit @returns {Axis} */
export function linearAxis(values, unit) {
  const largest = (values.length ? Math.max(...values) : 1) || 1;
  const decade = power(Math.floor(Math.log10(largest)));
  const step = ([0.2, 0.5, 1, 2].find((part) => largest / (part * decade) <= 5) ?? 2) * decade;
  const count = Math.ceil(largest / step - 1e-9);
  /** @type {[number, string][]} */
  const ticks = [];
  for (let index = 0; index <= count; index += 1) ticks.push([index * step, written(index * step, unit, step)]);
  return { low: 0, high: count * step, ticks, log: false };
}

/** @param {number} exponent */
const power = (exponent) => Number(`1e${exponent}`);

/** @param {number} tick @param {string} unit @param {number} step */
function written(tick, unit, step) {
  if (tick === 0) return "0";
  if (unit === "short_count") {
    const [factor, prefix] = PREFIXES.find(([least]) => tick >= least) ?? [1, ""];
    const count = rounded(tick / factor, step / factor);
    return prefix ? `${count}${SPACE}${prefix}` : count;
  }
  return write(tick, /** @type {Unit} */ (unit), step).replace("FLOP/s", "");
}

/** How far along an axis a value lies, from 0 to 1. @param {{low: number, high: number, log?: boolean}} axis @param {number} value */
function share({ low, high, log }, value) {
  const at = (/** @type {number} */ each) => (log ? Math.log10(each) : each);
  return (at(value) - at(low)) / (at(high) - at(low));
}

// Rows

/** @param {Rows} description @returns {Drawing} */
function rows({ groups, unit, log = false }) {
  const shown = groups
    .map((group) => ({ ...group, rows: group.rows.filter(({ mark }) => known(mark)) }))
    .filter((group) => group.rows.length);
  const every = shown.flatMap((group) => [...group.rows, ...(group.limits ?? [])]);
  const axis = axisOf(every.flatMap(({ mark }) => valuesOf(mark)), unit, log);
  /** @type {Node[]} */
  const nodes = [];
  /** @type {Spot[]} */
  const spots = [];
  let y = 0;
  shown.forEach((group, index) => {
    y += index ? 32 : 16;
    nodes.push(text(0, y, group.title.replaceAll(CARD, group.card ?? ""), "strong"));
    const drawn = groupOf(group, axis, y);
    nodes.push(...drawn.nodes);
    spots.push(...drawn.spots);
    y = drawn.height;
  });
  y += 10;
  for (const [tick, words] of axis.ticks) {
    const at = 100 * share(axis, tick);
    nodes.unshift(line(at, at, 24, y, "grid"));
    nodes.push(text(at, y + 15, words, `small ${anchor(at)}`.trim()));
  }
  y += 20;
  if (axis.log) {
    y += 14;
    nodes.push(text(0, y, LOG_NOTE, "small"));
  }
  const legend = legendOf(every.map(({ mark }) => mark), y);
  return { nodes: [...nodes, ...legend.nodes], height: legend.height + 6, spots };
}

/** @param {Group} group @param {Axis} axis @param {number} y @returns {Drawing} */
function groupOf({ title, rows: own, limits = [], card = "" }, axis, y) {
  const top = y + 8;
  /** @type {Node[]} */
  const lines = [];
  /** @type {Node[]} */
  const nodes = [];
  /** @type {Spot[]} */
  const spots = [];
  const named = (/** @type {string} */ label) => label.replaceAll(CARD, card);
  const firm = own.filter((row) => !["forecast", "contributed"].includes(kindOf(row.mark)) && !row.own);
  const alike = firm.filter((row) => kindOf(row.mark) === kindOf(firm[0]?.mark ?? row.mark));
  for (const row of own) {
    y += 21;
    nodes.push(text(0, y, `${named(row.label)}: ${said(row.mark)}`), ...pennant(row, y));
    if (row.note) nodes.push(text(0, (y += 17), row.note, "small"));
    const compared = axis.log && alike.indexOf(row) > 0;
    nodes.push(...marked(row, compared ? alike[0] : undefined, axis, y + 13));
    const x = 100 * share(axis, row.mark.value ?? 0);
    const guessed = row.guess ? `, ${YOUR_GUESS}` : "";
    const noted = row.note ? `, ${row.note}` : "";
    spots.push({ x, y: y + 13, label: `${named(title)}, ${named(row.label)}${noted}${guessed}`, mark: row.mark });
    y += isWide(row.mark, axis) ? 36 : 20;
  }
  for (const { label, color, mark } of limits) {
    if (!known(mark)) continue;
    y += 22;
    const at = 100 * share(axis, mark.value ?? 0);
    lines.push(line(at, at, top, y - 12, `limit c${color}`));
    nodes.push(text(at, y, `${label}: ${said(mark)}`, `strong${at < 50 ? "" : " end"}`));
    spots.push({ x: at, y: y - 12, label: `${named(title)}, ${label}`, mark });
  }
  return { nodes: [...lines, ...nodes], height: y, spots };
}

/** A pennant beside the row that the reader expected to be best. @param {Row} row @param {number} y @returns {Node[]} */
function pennant({ guess }, y) {
  if (!guess) return [];
  /** @type {Node[]} */
  const parts = [["path", { d: PENNANT }, []], ["text", { class: "small strong end", x: "-20", y: "0" }, [YOUR_GUESS]]];
  return [["svg", { class: "guess c4", x: "100%", y: number(y), overflow: "visible" }, parts]];
}

/** @param {Row} row @param {Row | undefined} base @param {Axis} axis @param {number} y @returns {Node[]} */
function marked({ color, mark, own = false }, base, axis, y) {
  const at = 100 * share(axis, mark.value ?? 0);
  const nodes = axis.log ? [line(0, 100, y, y, "track")] : [];
  if (base) nodes.push(...ratio(base.mark.value || 1, mark.value || 1, axis, y));
  if (!axis.log && !POINTED.includes(kindOf(mark))) {
    const size = { x: "0", y: number(y - 7), width: `${number(at)}%`, height: "14" };
    nodes.push(["rect", { class: `bar ${cssOf(mark, own)} c${color}`, ...size }, []]);
  } else if (!axis.log) nodes.push(line(0, at, y, y, `stem c${color}`));
  if (mark.low !== undefined && mark.high !== undefined) {
    const low = 100 * share(axis, mark.low);
    const high = 100 * share(axis, mark.high);
    nodes.push(line(low, high, y, y, `band c${color}`));
    nodes.push(...[low, high].map((end) => line(end, end, y - 7, y + 7, `cap c${color}`)));
    if (isWide(mark, axis)) nodes.push(text((low + high) / 2, y + 21, mark.band ?? "", "small middle"));
    else if (kindOf(mark) === "forecast") nodes.push(...beside(low, high, y, mark.band ?? "", BESIDE, ""));
  }
  if (axis.log || POINTED.includes(kindOf(mark))) nodes.push(point(at, y, cssOf(mark, own), color));
  return nodes;
}

/** Whether a forecast's band leaves no room for its words beside it. @param {Mark} mark @param {Axis} axis */
function isWide(mark, axis) {
  if (kindOf(mark) !== "forecast" || mark.low === undefined || mark.high === undefined) return false;
  return 100 * share(axis, mark.low) < BESIDE && 100 * share(axis, mark.high) > 100 - BESIDE;
}

/** @param {number} first @param {number} value @param {Axis} axis @param {number} y @returns {Node[]} */
function ratio(first, value, axis, y) {
  const quotient = Math.max(first, value) / Math.min(first, value);
  if (quotient < ALIKE) return [];
  const [left, right] = [100 * share(axis, Math.min(first, value)), 100 * share(axis, Math.max(first, value))];
  const words = `${value < first ? "÷" : "×"}${SPACE}${rounded(quotient, quotient / 10)}`;
  return [line(left, right, y, y, "way"), ...beside(left, right, y, words, 18, "strong")];
}

/** @param {number} left @param {number} right @param {number} y @param {string} words @param {number} room @param {string} css @returns {Node[]} */
function beside(left, right, y, words, room, css) {
  const named = `small ${css}`.trimEnd();
  if (right <= 100 - room) return [text(right, y + 5, words, `${named} after`)];
  if (left >= room) return [text(left, y + 5, words, `${named} before end`)];
  if (right - left >= 1.5 * room) return [text((left + right) / 2, y + 5, words, `${named} between middle`)];
  return [];
}

/** @param {number} at @param {number} y @param {string} kind @param {number} color @param {number} size @returns {Node} */
function point(at, y, kind, color, size = LARGE) {
  const css = `point ${kind} c${color}`;
  const shape = SHAPES[kind];
  if (shape) {
    /** @type {{[name: string]: string}} */
    const attributes = size < LARGE ? { d: shape, transform: "scale(0.7)" } : { d: shape };
    return ["svg", { class: css, x: `${number(at)}%`, y: number(y), overflow: "visible" }, [["path", attributes, []]]];
  }
  return ["circle", { class: css, cx: `${number(at)}%`, cy: number(y), r: String(size) }, []];
}

/** @param {Mark[]} marks @param {number} y @returns {{nodes: Node[], height: number}} */
function legendOf(marks, y) {
  const found = new Set(marks.filter(known).map(kindOf));
  const kinds = Object.keys(KINDS).filter((kind) => found.has(/** @type {Look} */ (kind)));
  if (kinds.length < 2) return { nodes: [], height: y };
  const nodes = kinds.flatMap((kind) => {
    y += 20;
    const sample = kind === "forecast" ? [line(8, 92, 9, 9, "band c0")] : [];
    return sampleOf(0, y - 14, [...sample, point(50, 9, kind, 0)], KINDS[kind] ?? "");
  });
  return { nodes, height: y };
}

/** @param {number} left @param {number} top @param {Node[]} sample @param {string} words @returns {Node[]} */
function sampleOf(left, top, sample, words) {
  const place = { x: `${number(left)}%`, y: String(top), height: "18" };
  return [
    ["svg", { ...place, width: "34" }, sample],
    ["svg", { ...place, width: `${number(100 - left)}%` }, [["text", { class: "small", x: "42", y: "14" }, [words]]]],
  ];
}

// Planes

/** @param {Plane} description @returns {Drawing} */
function plane({ below, title, unit, series, log = false, key = true, notes = [], lead, guess, card = "" }) {
  const all = series.flatMap(({ points }) => points.map(([, mark]) => mark));
  const y = axisOf(all.flatMap(valuesOf), unit, log);
  const nodes = [...leadOf(lead, below), ...guessOf(guess, below), text(0, 12, title, "small strong")];
  for (const [tick, words] of y.ticks) {
    const at = down(y, tick);
    nodes.push(line(GUTTER, END, at, at, "grid"), text(0, at + 4, words, "small"));
  }
  for (const [tick, words] of below.ticks)
    nodes.push(text(along(below, tick), BOTTOM + 20, words, tick === below.now ? "small strong middle" : "small middle"));
  nodes.push(text(GUTTER, BOTTOM + 40, below.title, "small strong"));
  const shown = series.filter(({ points }) => points.some(([, mark]) => known(mark)));
  const stretched = shown.flatMap((each) => paths(each, below, y));
  if (stretched.length) {
    const place = { x: `${number(GUTTER)}%`, y: "0", width: `${number(END - GUTTER)}%` };
    const frame = { height: String(BOTTOM), viewBox: `0 0 1000 ${BOTTOM}` };
    nodes.push(["svg", { ...place, ...frame, preserveAspectRatio: "none", overflow: "visible" }, stretched]);
  }
  /** @type {Spot[]} */
  const spots = [];
  for (const { label, color, points, style = "line", own = false } of shown)
    for (const [at, mark] of points) {
      if (!known(mark)) continue;
      const [x, height] = [along(below, at), down(y, mark.value ?? 0)];
      if (style !== "step") nodes.push(point(x, height, cssOf(mark, own), color, SMALL));
      const tick = below.ticks.find(([value]) => value === at)?.[1] ?? String(at);
      spots.push({ x, y: height, label: `${label.replaceAll(CARD, card)}, ${below.title}: ${tick}`, mark });
    }
  if (lead) {
    const at = along(below, lead[0]);
    nodes.push(at <= 50 ? text(at, BOTTOM - 8, lead[1], "small strong after") : text(END, BOTTOM - 8, lead[1], "small strong end"));
  }
  for (const [at, value, words] of notes) nodes.push(text(along(below, at), down(y, value) - 9, words, "small strong end"));
  let height = BOTTOM + 48;
  if (key) {
    const keys = shown.map((each) => keyOf(each, card));
    const across = keys.every(([, words]) => words.length <= HALF_LINE) ? 2 : 1;
    keys.forEach((each, index) => nodes.push(...sampleOf(50 * (index % across), height + 20 * Math.floor(index / across), ...each)));
    height += 20 * Math.ceil(shown.length / across) + 4;
  }
  const legend = legendOf(all, height - 8);
  return { nodes: [...nodes, ...legend.nodes], height: legend.height + 8, spots };
}

/** @param {[number, string] | undefined} lead @param {Below} x @returns {Node[]} */
function leadOf(lead, x) {
  if (!lead) return [];
  const at = along(x, lead[0]);
  const size = { width: `${number(END - at)}%`, height: String(BOTTOM - TOP) };
  return [
    ["rect", { class: "lead", x: `${number(at)}%`, y: String(TOP), ...size }, []],
    line(at, at, TOP - 4, BOTTOM, "edge"),
  ];
}

/** @param {[number, string] | undefined} guess @param {Below} x @returns {Node[]} */
function guessOf(guess, x) {
  if (!guess) return [];
  const at = along(x, guess[0]);
  return [line(at, at, TOP, BOTTOM - 24, "limit c4"), text(at, TOP - 6, guess[1], `small strong ${at <= 50 ? "after" : "end"}`)];
}

/** @param {Below} axis @param {number} value */
const along = (axis, value) => GUTTER + (END - GUTTER) * share(axis, value);

/** @param {Axis} axis @param {number} value */
const down = (axis, value) => BOTTOM - (BOTTOM - TOP) * share(axis, value);

/** @param {Series} series @param {Below} x @param {Axis} y @returns {Node[]} */
function paths({ color, points, dash = "", style = "line" }, x, y) {
  const places = points.map(([at, mark]) => ({
    at: 1000 * share(x, at),
    value: known(mark) ? down(y, mark.value ?? 0) : null,
    low: known(mark) && mark.low !== undefined ? down(y, mark.low) : null,
    high: known(mark) && mark.high !== undefined ? down(y, mark.high) : null,
  }));
  /** @type {Node[]} */
  const made = [];
  const hatched = style === "line" && points.some(([, mark]) => kindOf(mark) === "forecast");
  const hairs = hairsOf(places, hatched);
  if (hairs) made.push(["path", { class: `${hatched ? "hatch" : "whisker"} c${color}`, d: hairs }, []]);
  if (style === "points") return made;
  let curve = "";
  let joined = false;
  for (const { at, value } of places) {
    if (value === null) {
      joined = false;
      continue;
    }
    const step = style === "step";
    const to = joined && step ? `${number(at)}V${number(value)}` : `${number(at)} ${number(value)}`;
    curve += joined ? `${step ? "H" : "L"}${to}` : `M${to}`;
    joined = true;
  }
  /** @type {{[name: string]: string}} */
  const more = dash ? { "stroke-dasharray": dash } : {};
  return [...made, ["path", { class: `curve c${color}`, d: curve, ...more }, []]];
}

/** @param {{at: number, low: number | null, high: number | null}[]} places @param {boolean} hatched */
function hairsOf(places, hatched) {
  const ends = places.flatMap(({ at, low, high }) => (low === null || high === null ? [] : [{ at, low, high }]));
  const parts = ends.flatMap((end, index) => {
    const next = ends[index + 1];
    if (!next) return [end];
    return Array.from({ length: hatched ? HAIRS : 1 }, (_, step) => {
      const part = step / HAIRS;
      return {
        at: end.at + part * (next.at - end.at),
        low: end.low + part * (next.low - end.low),
        high: end.high + part * (next.high - end.high),
      };
    });
  });
  return parts.map(({ at, low, high }) => `M${number(at)} ${number(low)}V${number(high)}`).join("");
}

/** A piece of a curve, and its name. @param {Series} series @param {string} card @returns {[Node[], string]} */
export function keyOf({ label, color, points, dash = "", style = "line", own = false }, card = "") {
  const first = points.find(([, mark]) => known(mark))?.[1] ?? { value: null };
  /** @type {{[name: string]: string}} */
  const more = dash ? { "stroke-dasharray": dash } : {};
  /** @type {Node[]} */
  const sample = [];
  if (style !== "points") sample.push(["line", { class: `curve c${color}`, x1: "0", x2: "100%", y1: "9", y2: "9", ...more }, []]);
  if (style !== "step") sample.push(point(50, 9, cssOf(first, own), color, SMALL));
  const kind = kindOf(first);
  const named = label.replaceAll(CARD, card);
  return [sample, ["published", "forecast"].includes(kind) ? `${named} (${kind})` : named];
}

// Tiles

/** @param {Tiles} description @returns {Drawing} */
function tiles({ titles, columns, rows: heads, tiles: cells, note = "", names = [], card = "" }) {
  const left = 15;
  const top = 46;
  const lines = cells.length ? Math.max(...cells.map((tile) => wordsOf(tile).length)) : 1;
  const tall = 20 + 18 * lines;
  const wide = (100 - left) / Math.max(1, columns.length);
  const nodes = [text(left, 14, titles[0], "small strong"), text(0, 36, titles[1], "small strong")];
  columns.forEach((words, column) => nodes.push(text(left + (column + 0.5) * wide, 36, words, "small middle")));
  heads.forEach((words, row) => nodes.push(text(0, top + row * tall + tall / 2 + 4, words, "small")));
  /** @type {Spot[]} */
  const spots = [];
  for (const tile of cells) {
    const [x, y] = [left + tile.column * wide, top + tile.row * tall];
    nodes.push(...tileOf(tile, x, y, wide, tall));
    const label = `${titles[1]} ${heads[tile.row]}, ${titles[0].toLowerCase()} ${columns[tile.column]}`;
    tile.marks.forEach((mark, index) => {
      if (!known(mark)) return;
      const down = y + (tall * (index + 1)) / (tile.marks.length + 1);
      spots.push({ x: x + wide / 2, y: down, label: `${label}, ${(names[index] ?? "your machine").replaceAll(CARD, card)}`, mark });
    });
  }
  let y = top + heads.length * tall;
  for (const words of note.replaceAll(CARD, card).split("\n").filter(Boolean)) {
    y += 18;
    nodes.push(text(0, y, words, "small"));
  }
  return { nodes, height: y + 8, spots };
}

/** What a tile says, its forecasts last. @param {Tile} tile */
function wordsOf({ words, marks }) {
  const forecasts = marks.filter((mark) => kindOf(mark) === "forecast" && known(mark));
  return [...words, ...forecasts.map((mark) => `□${SPACE}${mark.text}`)];
}

/** @param {Tile} tile */
function isFramed({ marks, frame = false }) {
  const first = marks.find((mark) => kindOf(mark) === "measured" && mark.value)?.value;
  const highs = marks.flatMap((mark) => (kindOf(mark) === "forecast" && mark.high !== undefined ? [mark.high] : []));
  return frame || (typeof first === "number" && highs.some((high) => high < first));
}

/** @param {Tile} tile @param {number} x @param {number} y @param {number} wide @param {number} tall @returns {Node[]} */
function tileOf(tile, x, y, wide, tall) {
  const { color, strength } = tile;
  const words = wordsOf(tile);
  const place = { x: `${number(x + 0.4)}%`, y: number(y + 2) };
  const size = { width: `${number(wide - 0.8)}%`, height: number(tall - 4) };
  const css = isFramed(tile) ? `tile framed c${color}` : `tile c${color}`;
  const first = y + tall / 2 + 5 - 9 * (words.length - 1);
  return [
    ["rect", { class: css, ...place, ...size, "fill-opacity": number(0.06 + 0.3 * strength) }, []],
    ...words.map((word, index) => text(x + wide / 2, first + 18 * index, word, "inside middle")),
  ];
}

// What all share

const SVG = "http://www.w3.org/2000/svg";

/** What is drawn, as an element of the page. @param {Node | string} node @returns {globalThis.Node} */
export function toElement(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node;
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map(toElement));
  return made;
}

/** Everything of a mark that its axis has to hold. @param {Mark} mark @returns {number[]} */
function valuesOf(mark) {
  return known(mark) ? [mark.value, mark.low, mark.high].filter((each) => typeof each === "number") : [];
}

/** @param {Mark} mark @param {boolean} own */
const cssOf = (mark, own) => (own ? "own" : kindOf(mark));

/** A place with two decimals at most. @param {number} value */
const number = (value) => String(Math.floor(value * 100 + 0.5) / 100);

/** @param {number} x1 @param {number} x2 @param {number} y1 @param {number} y2 @param {string} css @returns {Node} */
function line(x1, x2, y1, y2, css) {
  return ["line", { class: css, x1: `${number(x1)}%`, x2: `${number(x2)}%`, y1: number(y1), y2: number(y2) }, []];
}

/** @param {number} at */
const anchor = (at) => (at < 1 ? "" : at > 99 ? "end" : "middle");

/** @param {number} x @param {number} y @param {string} words @param {string} css @returns {Node} */
function text(x, y, words, css = "") {
  const place = { x: `${number(x)}%`, y: number(y) };
  return ["text", css ? { class: css, ...place } : place, [words]];
}
