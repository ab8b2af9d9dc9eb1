// From what a reader chooses to the seconds of each part, with their band: as results/timeline.py, which
// a test compares. Pure.

import { simulate } from "./simulation.js";

/** @typedef {import("./simulation.js").Loop} Loop */
/** @typedef {import("./simulation.js").Run} Run */
/** @typedef {import("./simulation.js").Phase} Phase */
/** @typedef {[phase: number, flop: number, sample_flop: number, bytes: number, sample_bytes: number]} Operation */
/** @typedef {[sample_bytes: number, operations: Operation[], update: Operation[], fused: Operation[]]} Model */
/** @typedef {[best: number, likely: number, worst: number]} Ends */
/** @typedef {[name: string, float32: number, bandwidth: number, band: number]} Card */
/** @typedef {{[name: string]: string}} Words */
/**
 * @typedef {object} Payload what lesson_site/timeline/data.py wrote
 * @property {[arithmetic: number, bandwidth: number, band: number]} shares
 * @property {[launch: Ends, copy: Ends, copy_rate: Ends, staging_rate: Ends, kernel: Ends]} ends
 * @property {[load: number, hand: number]} own
 * @property {Phase[]} phases
 * @property {{[name: string]: Model}} models
 * @property {{[id: string]: Card}} cards
 * @property {{[name: string]: number}} images
 * @property {Words} words
 * @property {Words} lanes
 * @property {Words} short
 * @property {{[key: string]: [what: string, origin: string]}} blocks
 * @property {Words} origins
 * @property {[name: string, value: number | boolean | string, question: string, done: string][]} moves
 * @property {number[]} steps
 */
/**
 * @typedef {object} Choice
 * @property {string} model
 * @property {number} batch
 * @property {string} images
 * @property {number} workers
 * @property {boolean} pinned
 * @property {boolean} reads_loss
 * @property {boolean} fused
 * @property {boolean} graph
 * @property {string} card
 */
/** @typedef {"likely" | "fastest" | "slowest" | "busiest" | "idlest"} Corner */
/** @typedef {{[corner in Corner]: Run}} Runs */

const TENSORS = 2;
/** @type {{[corner in Corner]: [host: number, gpu: number]}} */
const CORNERS = { likely: [0, 0], fastest: [-1, -1], slowest: [1, 1], busiest: [-1, 1], idlest: [1, -1] };

/** A model's operations with the optimizer that was chosen. @param {Model} model @param {boolean} isFused */
export const operationsOf = ([, operations, update, fused], isFused) => [...operations, ...(isFused ? fused : update)];

/**
 * @param {Payload} payload
 * @param {Choice} choice
 * @param {[host: number, gpu: number]} corner
 * @returns {Loop}
 */
export function loopOf({ shares, ends, own, phases, models, cards, images }, choice, [hostEnd, gpuEnd]) {
  const model = models[choice.model];
  const card = cards[choice.card];
  if (!model || !card) throw new Error(`There is no model ${choice.model}, or no card ${choice.card}.`);
  const [, float32, bandwidth, ofCard] = card;
  const band = (ofCard || shares[2]) ** gpuEnd;
  const kernelEnd = ends[4][1 + gpuEnd] ?? NaN;
  const [launch = NaN, copy = NaN, copyRate = NaN, stagingRate = NaN] = ends.map((each) => each[1 + hostEnd]);
  /** @param {Operation} operation @returns {[Phase, number]} */
  const kernel = ([phase, fixedFlop, sampleFlop, fixedBytes, sampleBytes]) => {
    const arithmetic = (fixedFlop + sampleFlop * choice.batch) / (shares[0] * float32);
    const traffic = (fixedBytes + sampleBytes * choice.batch) / (shares[1] * bandwidth);
    return [phases[phase] ?? "forward", Math.max((arithmetic + traffic) * band, kernelEnd)];
  };
  const times = images[choice.images] ?? 0;
  const size = model[0] * choice.batch;
  return {
    kernels: operationsOf(model, choice.fused).map(kernel),
    launch,
    load: times * own[0] * choice.batch,
    workers: times ? choice.workers : 0,
    hand: own[1],
    copy: TENSORS * copy + size / copyRate,
    staging: size / stagingRate,
    answer: copy,
    pinned: choice.pinned,
    reads_loss: choice.reads_loss,
    graph: choice.graph,
  };
}

/** The loop at every corner of its band. @param {Payload} payload @param {Choice} choice @returns {Runs} */
export function runsOf(payload, choice) {
  const run = (/** @type {Corner} */ corner) => simulate(loopOf(payload, choice, CORNERS[corner]));
  return {
    likely: run("likely"),
    fastest: run("fastest"),
    slowest: run("slowest"),
    busiest: run("busiest"),
    idlest: run("idlest"),
  };
}
