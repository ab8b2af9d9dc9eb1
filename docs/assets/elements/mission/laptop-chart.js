// The laptop's memory as one bar that moves towards the line of the card.

import { fill, pattern, pixels, svg } from "./draw.js";
import { table as tableOf } from "./instrument.js";
import { mission } from "./state.js";

/**
 * A row of lesson_site/mission/rows.py.
 * @typedef {{total: number, static: number, total_gb: string, static_gb: string, rest_gb: string, peak_gb: string,
 *   over_gb: string, spare_gb: string, kept_gb: number, axis: number, verdict: string, outcome: string}} Row
 */

const HEIGHT = 240;
const BAR = { y: 62, height: 96 };
const AXIS_Y = 204;
const STRIPE = 14;
const REST = "laptop-challenge-rest";
const WARNING = "laptop-challenge-warning";
// Where the bar ends this far along the axis, what hangs on its end is written to the left of it.
const FAR = 62;

/** The blanks of the laptop's sentences. @param {Row} row */
export function blanks(row) {
  const { total_gb: total, static_gb: fixed, rest_gb: rest, over_gb: over, spare_gb: spare, peak_gb: peak, axis } = row;
  return { total, static: fixed, rest, over, spare, peak, axis, budget: mission.payload?.budgets.laptop.gb };
}

/** What a row's verdict is called. @param {Row} row */
export const verdictOf = (row) => fill(mission.text(`laptop.${row.verdict}`), blanks(row));

/** What there is besides the static part. @param {string} regime */
export const restName = (regime) => mission.text(`laptop.rest.${regime}`) || mission.text("laptop.rest");

/**
 * The bar.
 * @param {Row} row
 * @param {string} regime
 * @param {Row | null} before where the bar was before the last move
 */
export function bar(row, regime, before) {
  const marks = /** @type {[number, string][]} */ (mission.payload?.ticks[row.axis] ?? []);
  const end = marks.at(-1)?.[0] ?? row.total;
  const at = (/** @type {number} */ size) => pixels(size, end, 100);
  const [fixed, total, budget] = [at(row.static), at(row.total), at(mission.payload?.budgets.laptop.bytes)];
  const whole = { width: `${total}%` };
  const field = { y: 24, height: AXIS_Y - 24 };
  return svg(
    "svg",
    { class: "laptop-chart", height: HEIGHT, role: "img", "data-outcome": row.outcome },
    ...named(row, regime),
    patterns(),
    box({ ...field, width: "100%", class: "laptop-beyond" }),
    box({ ...field, width: `${budget}%`, class: "laptop-within" }),
    // The static part lies over the beginning of the whole.
    box({ ...whole, fill: `url(#${REST})` }),
    box({ width: `${fixed}%`, class: "laptop-static" }),
    row.outcome === "fits_unsafe" ? box({ ...whole, height: STRIPE, fill: `url(#${WARNING})` }) : null,
    box({ ...whole, class: "laptop-outline" }),
    before ? box({ width: `${at(before.total)}%`, class: "laptop-before" }) : null,
    ...["laptop-halo", "laptop-line"].map((name) =>
      svg("line", { x1: `${budget}%`, x2: `${budget}%`, y1: 6, y2: AXIS_Y, class: name }),
    ),
    text(mission.text("laptop.budget"), { x: `${budget}%`, dx: 8, y: 17, class: "strong" }, row),
    restLabel(row, regime, fixed, total),
    text(`${mission.text("laptop.static")} {static} GB`, { x: 0, y: BAR.y + BAR.height + 22, class: "strong" }, row),
    ...axis(marks, at),
  );
}

/** The chart's name and description. @param {Row} row @param {string} regime */
function named(row, regime) {
  const parts = `${mission.text("laptop.static")} {static} GB, ${restName(regime)} {rest} GB`;
  const all = { ...blanks(row), verdict: verdictOf(row), parts: fill(parts, blanks(row)) };
  return [
    svg("title", {}, fill(mission.text("laptop.name"), all)),
    svg("desc", {}, fill(mission.text("laptop.description"), all)),
  ];
}

/** @param {import("./draw.js").Attributes} attributes */
const box = (attributes) => svg("rect", { ...BAR, ...attributes });

/** @param {string} template @param {import("./draw.js").Attributes} attributes @param {Row} row */
const text = (template, attributes, row) => svg("text", attributes, fill(template, blanks(row)));

/**
 * Name and size of what moves, in two lines over the bar, so that they fit a narrow screen.
 * @param {Row} row
 * @param {string} regime
 * @param {number} fixed percent of the width
 * @param {number} total percent of the width
 */
function restLabel(row, regime, fixed, total) {
  const place = total > FAR ? { x: `${total}%`, class: "strong end" } : { x: `${fixed}%`, class: "strong" };
  return svg(
    "g",
    {},
    text(restName(regime), { ...place, y: BAR.y - 24 }, row),
    text("{rest} GB", { ...place, y: BAR.y - 7 }, row),
  );
}

/** Stripes for what moves, and the band over a bar that fits but should not be trusted. */
function patterns() {
  const moving = [svg("rect", { width: 8, height: 8, class: "laptop-moving" }), svg("path", { d: "M0 4h8", class: "laptop-gap" })];
  const warning = [
    svg("rect", { width: 14, height: 14, class: "laptop-warning" }),
    svg("rect", { width: 7, height: 14, class: "laptop-warning-dark" }),
  ];
  return svg("defs", {}, pattern(REST, 8, {}, ...moving), pattern(WARNING, 14, { patternTransform: "rotate(45)" }, ...warning));
}

/** @param {[number, string][]} marks @param {(size: number) => number} at */
function axis(marks, at) {
  const last = marks.length - 1;
  return [
    svg("line", { x1: 0, x2: "100%", y1: AXIS_Y, y2: AXIS_Y, class: "laptop-axis" }),
    ...marks.flatMap(([size, says], index) => {
      const x = `${at(size)}%`;
      const side = index === 0 ? "" : index === last ? "end" : "middle";
      return [
        svg("line", { x1: x, x2: x, y1: AXIS_Y, y2: AXIS_Y + 6, class: "laptop-axis" }),
        svg("text", { x, y: AXIS_Y + 24, class: `muted ${side}` }, index === last ? `${says} GB` : says),
      ];
    }),
  ];
}

/** The same numbers as a table. @param {Row} row @param {string} regime */
export function table(row, regime) {
  const fits = row.verdict === "fits";
  const rows = [
    [mission.text("laptop.static"), row.static_gb],
    [restName(regime), row.rest_gb],
    ["Total", row.total_gb],
    ["Budget of this card", mission.payload?.budgets.laptop.gb],
    fits ? ["To spare", row.spare_gb] : ["Over by", row.over_gb],
    ["Step peak, gradients freed each step", row.peak_gb],
  ];
  const caption = "Training memory on the laptop GPU";
  return tableOf(caption, ["Part", "GB"], rows);
}
