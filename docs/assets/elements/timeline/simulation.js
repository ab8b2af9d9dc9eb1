// A training loop in time, run as lesson_code/timeline/simulation.py runs it, which a test compares on
// random loops. Pure; all times are seconds.

/** @typedef {"forward" | "backward" | "update"} Phase */
/** @typedef {[phase: Phase, seconds: number]} Kernel */
/**
 * A training loop; the Python class of this name says what each field is.
 * @typedef {object} Loop
 * @property {Kernel[]} kernels
 * @property {number} launch
 * @property {number} load
 * @property {number} workers
 * @property {number} hand
 * @property {number} copy
 * @property {number} staging
 * @property {number} answer
 * @property {boolean} pinned
 * @property {boolean} reads_loss
 * @property {boolean} graph
 */
/** @typedef {[start: number, end: number]} Piece */
/** @typedef {"loader" | "python" | "copies" | "gpu"} Lane */
/** @typedef {{lane: Lane, kind: string, step: number, row: number, pieces: Piece[]}} Block */
/** @typedef {{blocks: Block[], period: number, busy: number, clock: number, step: number, cause: string}} Run */

export const STEPS = 64;
const AHEAD = 2;
const DEPTH = 1024;
const TENSORS = 2;
const BUSY = 0.8;
export const WAITS = ["batch", "stream", "room", "loss"];
/** @type {{[kind: string]: string}} */
const CAUSES = {
  forward: "launch",
  backward: "launch",
  update: "launch",
  graph: "launch",
  pin: "load",
  hand: "workers",
  batch: "workers",
};

/** @param {Block} block */
export const startOf = ({ pieces }) => pieces[0]?.[0] ?? 0;
/** @param {Block} block */
export const endOf = ({ pieces }) => pieces.at(-1)?.[1] ?? 0;
/** How long its pieces take. @param {Block} block */
export const secondsOf = ({ pieces }) => pieces.reduce((sum, [start, end]) => sum + (end - start), 0);

class Timeline {
  /** @type {Map<string, Block>} */
  blocks = new Map();
  host = 0;
  stream = 0;
  /** @type {number[]} */
  #done = [];
  /** @type {number[]} */
  #free;
  #pinned = 0;
  /** @type {number[]} */
  #taken = [];

  /** @param {Loop} loop */
  constructor(loop) {
    this.loop = loop;
    this.#free = new Array(loop.workers).fill(0);
  }

  /** Python makes the next batch, or gets it from a worker. @param {number} step */
  takeBatch(step) {
    const { load, workers, hand, pinned, staging } = this.loop;
    if (!load) return;
    if (workers) {
      this.#python("batch", step, this.#madeByWorker(step));
      this.#python("hand", step, this.host + hand);
      this.#taken.push(this.host);
      return;
    }
    this.#python("load", step, this.host + load);
    if (pinned) this.#python("pin", step, this.host + staging);
  }

  /** When the batch is there. @param {number} step */
  #madeByWorker(step) {
    const { workers, load, pinned, staging } = this.loop;
    const row = step % workers;
    const start = Math.max(this.#free[row] ?? 0, this.#taken[step - AHEAD * workers] ?? 0);
    const end = start + load;
    this.#free[row] = end;
    this.#add("loader", "load", step, start, end, row);
    if (!pinned) return end;
    return (this.#pinned = Math.max(end, this.#pinned) + staging);
  }

  /** The batch travels, behind everything that the GPU was asked for before. @param {number} step */
  copyBatch(step) {
    const { load, pinned, staging, copy } = this.loop;
    if (!load) return;
    let start;
    if (pinned) {
      for (let tensor = 0; tensor < TENSORS; tensor++) this.#ask("copy", step);
      start = Math.max(this.host, this.stream);
    } else {
      this.#python("stream", step, this.stream);
      start = this.host + staging;
      this.#python("copy", step, start + copy);
    }
    this.stream = start + copy;
    this.#add("copies", "copy", step, start, this.stream);
    for (let tensor = 0; tensor < TENSORS; tensor++) this.#done.push(this.stream);
  }

  /** Python asks for one kernel after the other, and the GPU runs each when it is free. @param {number} step */
  compute(step) {
    const { graph, kernels } = this.loop;
    if (graph) this.#ask("graph", step);
    for (const [phase, seconds] of kernels) {
      if (!graph) this.#ask(phase, step);
      const start = Math.max(this.host, this.stream);
      this.stream = start + seconds;
      this.#add("gpu", phase, step, start, this.stream);
      if (!graph) this.#done.push(this.stream);
    }
    if (graph) this.#done.push(this.stream);
  }

  /** Python waits for the GPU, and for the number. @param {number} step */
  readLoss(step) {
    if (!this.loop.reads_loss) return;
    this.#python("loss", step, this.stream);
    this.#python("answer", step, this.host + this.loop.answer);
  }

  /** @param {string} kind @param {number} step */
  #ask(kind, step) {
    if (this.#done.length >= DEPTH) this.#python("room", step, this.#done.at(-DEPTH) ?? 0);
    this.#python(kind, step, this.host + this.loop.launch);
  }

  /** Python does something, or waits for something, until a moment. @param {string} kind @param {number} step @param {number} until */
  #python(kind, step, until) {
    if (until <= this.host) return;
    this.#add("python", kind, step, this.host, until);
    this.host = until;
  }

  /** @param {Lane} lane @param {string} kind @param {number} step @param {number} start @param {number} end @param {number} [row] */
  #add(lane, kind, step, start, end, row = 0) {
    const key = `${lane} ${kind} ${step} ${row}`;
    const block = this.blocks.get(key);
    if (block) block.pieces.push([start, end]);
    else this.blocks.set(key, { lane, kind, step, row, pieces: [[start, end]] });
  }
}

/**
 * Run a loop for some steps, and look who waits for whom in the second half of them.
 * @param {Loop} loop
 * @param {number} [steps]
 * @returns {Run}
 */
export function simulate(loop, steps = STEPS) {
  const timeline = new Timeline(loop);
  /** @type {number[]} */
  const ends = [];
  let [clock, second] = [0, 0];
  for (let step = 0; step < steps; step++) {
    timeline.takeBatch(step);
    const [begun, free] = [timeline.host, timeline.stream];
    timeline.copyBatch(step);
    timeline.compute(step);
    ends.push(timeline.stream);
    if (step === 1) [clock, second] = [timeline.host - begun, timeline.stream - Math.max(begun, free)];
    timeline.readLoss(step);
  }
  const half = Math.floor(steps / 2);
  const period = ((ends.at(-1) ?? 0) - (ends[half - 1] ?? 0)) / (steps - half);
  const busy = loop.kernels.reduce((sum, [, seconds]) => sum + seconds, 0) / period;
  const blocks = [...timeline.blocks.values()];
  const cause = busy >= BUSY ? "gpu" : causeOf(blocks.filter(({ step }) => step >= half));
  return { blocks, period, busy, clock, step: second, cause };
}

/** What takes longest of all that the GPU waits for. @param {Block[]} blocks */
function causeOf(blocks) {
  /** @type {Map<string, number>} */
  const spent = new Map();
  for (const block of blocks) {
    const { lane, kind } = block;
    if (lane !== (kind === "copy" ? "copies" : "python") || ["stream", "room", "loss"].includes(kind)) continue;
    const cause = CAUSES[kind] ?? kind;
    spent.set(cause, (spent.get(cause) ?? 0) + secondsOf(block));
  }
  const longest = Math.max(...spent.values());
  return [...spent].find(([, seconds]) => seconds === longest)?.[0] ?? "";
}
