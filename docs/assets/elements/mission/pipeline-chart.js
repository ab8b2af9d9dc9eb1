// What the Pipeline Breakdown Analyzer draws: the bars of an iteration, the gauge and the memory.
// Places are percentages of the width, so that letters keep their size on every screen.

import { fill, pattern, pixels, svg } from "./draw.js";

/**
 * A row of lesson_site/mission/rows.py: numbers to draw with, and texts.
 * @typedef {{unit_ends: number[], share_ends: number[], memory_ends: number[], budget_end: number, axis: string,
 *   pointers: [number, number], units: string[], shares: string[], verdict: string, target: string,
 *   near: string | null, [text: string]: any}} Row
 * @typedef {[at: number, name: string]} Tick
 * @typedef {{frame: number, baseline: number, answer: number, utilisation_ticks: Tick[], mfu_ticks: Tick[]}} Marks
 */

export const PARTS = ["data", "transfer", "compute", "recompute"];

/** The row that a configuration has. @param {{[name: string]: string | undefined}} controls */
export const keyOf = ({ prefetch, mixed, checkpointing, batch, tensor_effect }) =>
  [prefetch, mixed, checkpointing, batch, tensor_effect].join("/");

/**
 * Which side of its place a label is on, so that it does not leave the drawing.
 * @param {number} at percent
 */
export const side = (at) => (at < 20 ? "" : at > 80 ? "end" : "middle");

/** @param {number} y @param {string} words @param {{[name: string]: string | number}} more */
const text = (y, words, more = {}) => svg("text", { x: 0, y, ...more }, words);

/**
 * Segments from the left, the last drawn first: each covers the beginning of the one behind it.
 * @param {number[]} ends @param {number} end the value at the end of the axis
 * @param {string[]} parts @param {number} y @param {number} height
 */
const segments = (ends, end, parts, y, height) =>
  ends
    .map((value, index) => ({ width: `${pixels(value, end, 100)}%`, part: parts[index], empty: value === ends[index - 1] }))
    .reverse()
    .flatMap(({ width, part, empty }) =>
      empty ? [] : [
        svg("rect", { class: `part ${part}`, x: 0, y, width, height }),
        svg("line", { class: "gap", x1: width, x2: width, y1: y, y2: y + height }),
      ],
    );

/** The patterns of the parts: what tells them apart without colour. */
const patterns = () =>
  svg(
    "defs",
    {},
    tile("data", 8, svg("circle", { cx: 2, cy: 2, r: 1.3 }), svg("circle", { cx: 6, cy: 6, r: 1.3 })),
    tile("transfer", 7, svg("path", { d: "M0 3.5h7" })),
    tile("recompute", 8, svg("path", { d: "M-2 2l4 -4M0 8l8 -8M6 10l4 -4" })),
    tile("activations", 7, svg("path", { d: "M3.5 0v7" })),
    tile("activations-over", 7, svg("path", { d: "M3.5 0v7" })),
  );

/** @param {string} part @param {number} size @param {Element[]} marks */
const tile = (part, size, ...marks) =>
  pattern(`pipeline-analyzer-${part}`, size, { class: part }, svg("rect", { width: size, height: size }), ...marks);

/**
 * A drawing with its name and what it shows.
 * @param {string} title @param {string} desc @param {number} height @param {(Element | null)[]} marks
 */
const drawing = (title, desc, height, ...marks) =>
  svg(
    "svg",
    { role: "img", width: "100%", height },
    svg("title", {}, title),
    svg("desc", {}, desc),
    ...marks,
  );

/**
 * One iteration as shares, and as time beside the baseline's.
 * @param {Row} row @param {Marks} marks @param {Element[]} prediction
 */
export function bars(row, marks, prediction) {
  const [data = 0] = row.share_ends;
  const [dataShare, transferShare, computeShare] = row.shares;
  const again = row.recompute_share;
  const repeats = row.share_ends[2] !== row.share_ends[3];
  const title = `One iteration: data loading ${dataShare} %, memory transfers ${transferShare} %, compute ${computeShare} %`;
  const desc =
    `From left to right: data loading ${dataShare} %, memory transfers ${transferShare} %, compute ${computeShare} %` +
    `${repeats ? `, of which recomputation ${again} %` : ""}. Time of one iteration: ${row.total} units; the baseline takes ${marks.baseline}.`;
  const ghost = `${pixels(marks.baseline, marks.frame, 100)}%`;
  return drawing(
    title,
    desc,
    270,
    patterns(),
    text(15, `Data loading ${dataShare} %`),
    text(15, `Compute ${computeShare} %`, { x: "100%", class: "end strong" }),
    ...segments(row.share_ends, 100, PARTS, 24, 46),
    svg("line", { class: "leader", x1: `${data}%`, x2: `${data}%`, y1: 70, y2: 92 }),
    svg("g", { transform: "translate(6)" }, text(90, `Memory transfers ${transferShare} %`, { x: `${data}%` })),
    repeats ? svg("g", {}, svg("line", { class: "leader", x1: "100%", x2: "100%", y1: 70, y2: 111 }),
      svg("g", { transform: "translate(-6)" }, text(110, `of which recomputation ${again} %`, { x: "100%", class: "end" }))) : null,
    text(144, `Time of one iteration: ${row.total} units`, { class: "strong" }),
    svg("rect", { class: "ghost", x: 0, y: 151, width: ghost, height: 24 }),
    ...segments(row.unit_ends, marks.frame, PARTS, 154, 18),
    text(190, "0", { class: "muted" }),
    text(190, `baseline ${marks.baseline}`, { x: ghost, class: "muted end" }),
    ...prediction,
  );
}

/**
 * What the learner said, beside what compute takes of the baseline's time; without numbers where
 * another configuration stands.
 * @param {number | null} said @param {Row} baseline @param {Marks} marks @param {boolean} here
 * @param {{said: string, elsewhere: string}} texts
 */
export function predicted(said, baseline, marks, here, texts) {
  if (said === null) return [];
  const values = { percent: said, answer: baseline.shares[2] };
  if (!here) return [text(238, fill(texts.elsewhere, values), { class: "muted" })];
  const at = `${said}%`;
  return [
    text(222, fill(texts.said, values), { x: at, class: `strong ${side(said)}`, "data-said": said }),
    svg("rect", { class: "track", x: 0, y: 236, width: "100%", height: 12 }),
    svg("rect", { class: "part compute", x: 0, y: 236, width: `${marks.answer}%`, height: 12 }),
    svg("line", { class: "said", x1: at, x2: at, y1: 228, y2: 254 }),
    text(266, `compute ${baseline.shares[2]} %`, { x: `${marks.answer}%`, class: "end" }),
    text(266, "baseline’s time", { x: "100%", class: "muted end" }),
  ];
}

const CENTRE = { x: 106, y: 126 };
const HALF_TURN = 180;
const LARGE = 98;
const SMALL = 73;

/** @param {number} value percent */
const turn = (value) => `rotate(${pixels(value, 100, HALF_TURN)} ${CENTRE.x} ${CENTRE.y})`;

/** A half circle from 0 to 100, filled up to a value. @param {number} radius @param {string} css @param {number} [value] */
const arc = (radius, css, value = 100) =>
  svg("path", {
    class: css,
    d: `M${CENTRE.x - radius} ${CENTRE.y}a${radius} ${radius} 0 0 1 ${2 * radius} 0`,
    pathLength: 100,
    "stroke-dasharray": `${pixels(value, 100, 100)} 200`,
  });

/** What turns with the pointer, drawn where 0 is. @param {number} value @param {Element[]} marks */
const turned = (value, ...marks) => svg("g", { transform: turn(value) }, ...marks);

/** A tick across an arc, with upright words beside it. @param {Tick} tick @param {number} radius @param {string} css */
function gaugeTick([at, name], radius, css) {
  const left = CENTRE.x - radius;
  return turned(at, svg("line", { class: `tick ${css}`, x1: left - 9, x2: left + 9, y1: CENTRE.y, y2: CENTRE.y }), ...upright(at, name, left - 13));
}

/** @param {number} at @param {string} name @param {number} x */
function upright(at, name, x) {
  // Two lines where a label is at the right, so that it stays inside.
  const words = at > 55 ? name.split(" ") : [name];
  const last = words.length - 1;
  const lines = words.map((word, line) =>
    svg("tspan", { x, dy: line ? 13 : 0 }, line === last ? `${word} ${at}` : word),
  );
  const turnBack = `rotate(${-pixels(at, 100, HALF_TURN)} ${x} ${CENTRE.y})`;
  const anchor = at > 55 ? "" : "middle";
  return [svg("text", { class: `label ${anchor}`, transform: turnBack, y: CENTRE.y }, ...lines)];
}

/**
 * Two arcs, two pointers.
 * @param {Row} row @param {Marks} marks
 */
export function gauge(row, marks) {
  const [utilisation, mfu] = row.pointers;
  const title = `Accelerator utilisation ${row.utilisation} %, MFU ${row.mfu} %`;
  const said = (/** @type {Tick[]} */ ticks) => ticks.map(([at, name]) => `${name} ${at} %`).join(", ");
  const desc =
    `Outer arc: accelerator utilisation ${row.utilisation} %; ticks: ${said(marks.utilisation_ticks)}. ` +
    `Inner arc: MFU ${row.mfu} %; ticks: ${said(marks.mfu_ticks)}.`;
  const outer = CENTRE.x - LARGE;
  const inner = CENTRE.x - SMALL;
  return drawing(
    title,
    desc,
    148,
    arc(LARGE, "arc track wide"),
    arc(LARGE, "arc utilisation wide", utilisation),
    arc(SMALL, "arc track"),
    arc(SMALL, "arc mfu", mfu),
    ...marks.utilisation_ticks.map((tick) => gaugeTick(tick, LARGE, tick[1] === "target" ? "strong" : "")),
    ...marks.mfu_ticks.map(([at]) =>
      turned(
        at,
        svg("line", { class: "tick", x1: inner - 6, x2: inner + 6, y1: CENTRE.y, y2: CENTRE.y }),
        svg("text", { class: "label middle", x: inner + 16, y: CENTRE.y, dy: 4, transform: `rotate(${-pixels(at, 100, HALF_TURN)} ${inner + 16} ${CENTRE.y})` }, String(at)),
      ),
    ),
    turned(utilisation, svg("path", { class: "pointer solid", d: `M${outer - 13} ${CENTRE.y}l24 -6v12z` })),
    turned(mfu, svg("path", { class: "pointer outlined", d: `M${inner - 10} ${CENTRE.y}l19 -6v12z` })),
    text(CENTRE.y - 20, `${row.utilisation} %`, { x: CENTRE.x, class: "middle centre" }),
    text(CENTRE.y - 2, `MFU ${row.mfu} %`, { x: CENTRE.x, class: "middle strong" }),
    text(CENTRE.y + 17, "0", { x: outer, class: "muted middle" }),
    text(CENTRE.y + 17, "100 %", { x: CENTRE.x + LARGE, class: "muted middle" }),
  );
}

/**
 * What the configuration takes of the device's memory.
 * @param {Row} row @param {string} budget in GB @param {string} says the verdict
 */
export function memory(row, budget, says) {
  const [model = 0, total = 0] = row.memory_ends;
  const line = `${row.budget_end}%`;
  const before = row.budget_end > 50;
  const parts = row.verdict === "over" ? ["model over", "activations over"] : ["model", "activations"];
  return drawing(
    `Memory: ${says}`,
    `From left to right: model and optimizer ${row.model_gb} GB, activations ${row.activations_gb} GB; the line is at ${budget} GB, the axis ends at ${row.axis} GB.`,
    90,
    svg("g", { transform: `translate(${before ? -5 : 5})` }, text(14, `${budget} GB`, { x: line, class: `strong ${before ? "end" : ""}` })),
    text(14, `${row.axis} GB`, { x: "100%", class: "muted end" }),
    svg("rect", { class: "track", x: 0, y: 22, width: "100%", height: 24 }),
    ...segments([model, total], 100, parts, 22, 24),
    svg("line", { class: "halo", x1: line, x2: line, y1: 21, y2: 47 }),
    svg("line", { class: "budget", x1: line, x2: line, y1: 3, y2: 52 }),
    text(66, `All but activations ${row.model_gb} GB`),
    text(85, `Activations ${row.activations_gb} GB`, { x: `${total}%`, class: total > 55 ? "end" : "" }),
  );
}
