// The first steps of a run as a picture, as lesson_site/timeline/drawing.py draws it, which a test
// compares. Pure: plain data in, plain data out.

import { write } from "../quantities.js";
import { WAITS, endOf, startOf } from "./simulation.js";

/** @typedef {import("../chart/drawing.js").Node} Node */
/** @typedef {import("./loop.js").Choice} Choice */
/** @typedef {import("./loop.js").Payload} Payload */
/** @typedef {import("./simulation.js").Block} Block */
/** @typedef {import("./simulation.js").Piece} Piece */
/** @typedef {import("./simulation.js").Run} Run */

const WIDTH = 10_000;
const LETTER = 235;
const [LABEL, BAR, ROW, GAP] = [16, 20, 9, 8];
const [FEWEST, MORE] = [3, 2];
const TICKS = 4;
const whole = (/** @type {number} */ value) => Math.floor(value + 0.5);

/** So many that every worker has brought a batch. @param {Choice} choice */
export const stepsShown = ({ images, workers }) => (images === "device" ? FEWEST : Math.max(FEWEST, workers + MORE));

/** When the last of the steps that are shown has ended. @param {Run} run @param {number} shown */
export const windowOf = ({ blocks }, shown) =>
  Math.max(...blocks.filter(({ step, lane }) => step < shown && lane !== "loader").map(endOf));

/** The blocks of the steps that are shown, as they begin. @param {Payload} payload @param {Run} run @param {number} shown */
export function blocksShown({ lanes }, { blocks }, shown) {
  const order = Object.keys(lanes);
  return blocks
    .filter(({ step }) => step < shown)
    .sort((a, b) => startOf(a) - startOf(b) || order.indexOf(a.lane) - order.indexOf(b.lane) || a.step - b.step);
}

/** @param {Payload} payload @param {Run} run @param {Choice} choice @returns {{nodes: Node[], height: number}} */
export function draw(payload, run, choice) {
  const shown = stepsShown(choice);
  const end = windowOf(run, shown);
  const blocks = blocksShown(payload, run, shown);
  /** @type {Node[]} */
  const nodes = [];
  let y = 0;
  for (const [lane, name] of Object.entries(payload.lanes)) {
    const rows = lane === "loader" ? Math.max(1, choice.workers) : 1;
    const height = Math.max(BAR, rows * ROW);
    const here = blocks.filter((block) => block.lane === lane);
    y += LABEL;
    const label = here.length ? name : (payload.words.none ?? "").replace("{lane}", name);
    nodes.push(["text", { x: "0", y: String(y - 4) }, [label]]);
    if (!here.length) continue;
    const working = run.blocks.filter((block) => block.lane === lane && !WAITS.includes(block.kind));
    const later = working.filter((block) => block.step >= shown && startOf(block) < end);
    const inside = later.length ? [path(later, end, height / rows, { class: "later" })] : [];
    for (const block of here) {
      const css = `${lane}${WAITS.includes(block.kind) ? " wait" : ""}`;
      inside.push(path([block], end, height / rows, { class: css, "data-block": String(blocks.indexOf(block)) }));
    }
    const plane = { x: "0", y: String(y), width: "100%", height: String(height) };
    nodes.push(["svg", { ...plane, viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none" }, inside]);
    if (rows === 1) for (const block of here) nodes.push(...word(payload, block, end, y + height / 2 + 4));
    y += height + GAP;
  }
  const marks = ticks(payload, end);
  for (const tick of marks) {
    const at = (100 * tick) / end;
    /** @type {{[name: string]: string}} */
    const anchor = tick ? { "text-anchor": at > 90 ? "end" : "middle" } : {};
    nodes.push(["text", { x: `${whole(at)}%`, y: String(y + 8), ...anchor }, [tick ? write(tick, "s", marks[1]) : "0"]]);
  }
  return { nodes, height: y + 14 };
}

/** Blocks as one path: a rectangle for every stretch without a gap. @param {Block[]} blocks @param {number} end @param {number} height @param {{[name: string]: string}} named @returns {Node} */
function path(blocks, end, height, named) {
  let d = "";
  for (const { row, pieces } of blocks) {
    const [top, bottom] = [whole(row * height), whole((row + 1) * height) - 1];
    for (const moments of stretches(pieces)) {
      const [left, right] = moments.map((moment) => Math.min(WIDTH, whole((WIDTH * moment) / end)));
      d += `M${left} ${top}H${right}V${bottom}H${left}Z`;
    }
  }
  return ["path", { ...named, d }, []];
}

/** Pieces that follow each other without a gap, joined. @param {Piece[]} pieces */
function stretches(pieces) {
  /** @type {Piece[]} */
  const joined = [];
  for (const [start, end] of pieces) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = end;
    else joined.push([start, end]);
  }
  return joined;
}

/** The block's word, where it has room. @param {Payload} payload @param {Block} block @param {number} end @param {number} y @returns {Node[]} */
function word({ short }, block, end, y) {
  const text = short[block.kind] ?? "";
  const [start, stop] = [startOf(block), endOf(block)];
  if ((WIDTH * (stop - start)) / end < LETTER * text.length) return [];
  return [["text", { class: "word", x: `${whole((50 * (start + stop)) / end)}%`, y: String(whole(y)) }, [text]]];
}

/** From zero in round steps, at most a few. @param {Payload} payload @param {number} end */
function ticks({ steps }, end) {
  const decade = Number(`1e${Math.floor(Math.log10(end))}`);
  const step = steps.map((times) => times * decade).find((each) => end / each <= TICKS) ?? end;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}
