// What is said of one choice, as lesson_site/timeline/told.py says it, which a test compares. Pure.

import { coarse, outward, rounded, write, writeBand } from "../quantities.js";
import { operationsOf } from "./loop.js";
import { endOf, secondsOf, startOf } from "./simulation.js";

/** @typedef {import("./loop.js").Choice} Choice */
/** @typedef {import("./loop.js").Payload} Payload */
/** @typedef {import("./loop.js").Runs} Runs */
/** @typedef {import("./simulation.js").Block} Block */
/** @typedef {import("./simulation.js").Run} Run */
/** @typedef {{question: string, choice: Choice, done: string}} Move */

const HONEST = 1.5;
const SAME = 1.05;

/** @param {string | undefined} template @param {{[name: string]: string | number}} values */
const fill = (template, values) => (template ?? "").replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
/** A time, as a forecast is written. @param {number} seconds */
const about = (seconds) => write(seconds, "s", coarse(seconds));
/** Steps a second. @param {Run} run */
const rate = ({ period }) => rounded(1 / period, coarse(1 / period));
/** A moment of the run, with three digits. @param {number} seconds */
const moment = (seconds) => (seconds ? write(seconds, "s") : "0");

/**
 * Who waits for whom, how much the GPU works, how fast it goes, and what a clock reads.
 * @param {Payload} payload
 * @param {Choice} choice
 * @param {Runs} runs
 */
export function sentences(payload, choice, runs) {
  const { words } = payload;
  const [slow, fast] = [waits(payload, choice, runs.idlest), waits(payload, choice, runs.busiest)];
  const first = slow === fast ? slow : fill(words.either, { slow, fast });
  const { likely } = runs;
  const clock = words[likely.step < HONEST * likely.clock ? "true" : "lying"];
  return [
    `${first.charAt(0).toUpperCase()}${first.slice(1)}.`,
    fill(words.busy, { share: share(runs.idlest.busy, runs.busiest.busy) }),
    fill(words.speed, { likely: rate(likely), band: band(payload, runs) }),
    fill(clock, { clock: about(likely.clock), step: about(likely.step) }),
  ];
}

/** @param {Payload} payload @param {Choice} choice @param {Run} run */
function waits(payload, choice, { cause }) {
  const ahead = (choice.images === "device" || choice.pinned) && !choice.reads_loss;
  /** @type {{[cause: string]: string}} */
  const names = {
    workers: choice.workers === 1 ? "workers 1" : "workers",
    launch: choice.graph ? "launch graph" : "launch",
    gpu: ahead ? "gpu ahead" : "gpu",
  };
  const model = payload.models[choice.model];
  const kernels = model ? operationsOf(model, choice.fused).length : 0;
  return fill(payload.words[names[cause] ?? cause], { kernels, size: size(payload, choice) });
}

/** The bytes of a batch. @param {Payload} payload @param {Choice} choice */
function size({ models }, choice) {
  const bytes = (models[choice.model]?.[0] ?? 0) * choice.batch;
  return write(bytes, "megabytes", coarse(bytes));
}

/** Two parts of a time, in percent. @param {number} low @param {number} high */
function share(low, high) {
  const ends = [low, high].map((part) => Math.min(100, Math.max(0.1, 100 * part)));
  const [first, last] = ends.map((end) => write(end, "percent", coarse(end)));
  return first === last ? String(first) : writeBand(ends[0] ?? 0, ends[1] ?? 0, "percent");
}

/** The lowest and the highest rate; nothing between equal ones. @param {Payload} payload @param {Runs} runs */
function band({ words }, { slowest, fastest }) {
  const [low, high] = [1 / slowest.period, 1 / fastest.period];
  if (high / low < SAME) return words["no band"] ?? "";
  const [first, last] = [outward(low, false), outward(high, true)].map((end) => rounded(end, coarse(end)));
  return fill(words.band, { low: first ?? "", high: last ?? "" });
}

/** The first rung that is not climbed yet; from the top, back to the start. @param {Payload} payload @param {Choice} choice @returns {Move} */
export function nextMove({ moves, words }, choice) {
  for (const [name, value, question, done] of moves) {
    if (choice.images === "device" && (name === "workers" || name === "pinned")) continue;
    if (choice[/** @type {keyof Choice} */ (name)] !== value)
      return { question: fill(words["what if"], { question }), choice: { ...choice, [name]: value }, done };
  }
  const { model, batch, card } = choice;
  const start = { images: "lesson", workers: 0, pinned: false, reads_loss: true, fused: false, graph: false };
  return { question: words.top ?? "", choice: { model, batch, card, ...start }, done: "" };
}

/** What a press has changed; nothing is said of going back. @param {Payload} payload @param {Move} move @param {Runs} before @param {Runs} after */
export function moved({ words }, { done }, before, after) {
  return done ? fill(words.moved, { done, after: rate(after.likely), before: rate(before.likely) }) : "";
}

/** What a block is, how long it is, and where its length comes from. @param {Payload} payload @param {Block} block @param {Choice} choice */
export function toldOf(payload, block, choice) {
  const { words, blocks, origins } = payload;
  const key = `${block.lane} ${block.kind}`;
  const [what, origin] = blocks[key === "python copy" && choice.pinned ? `${key} pinned` : key] ?? ["", ""];
  const parts = fill(words.kernels, { parts: block.pieces.length });
  return fill(words.block, {
    step: block.step + 1,
    what: fill(what, { parts, size: size(payload, choice) }),
    seconds: about(secondsOf(block)),
    start: moment(startOf(block)),
    end: moment(endOf(block)),
    origin: origins[origin === "load" && choice.images === "slow" ? "load slow" : origin] ?? "",
  });
}

/** What the picture shows. @param {Payload} payload @param {Choice} choice @param {number} steps */
export const title = ({ words, cards }, choice, steps) => fill(words.title, { steps, card: cards[choice.card]?.[0] ?? "" });
