// What is raced, and what the times say: sizes, slopes, summaries, agreement, the crossover. Pure.
//
// A block of k operations is waited for once, at its end. That wait costs the same for every k, so
// the slope (T(2k) - T(k)) / k is the time of one operation without it. summary() and crossover()
// follow results/summary.py and results/derived.py; a test compares both sides.

/** @typedef {{kind: "step", width: number, batch: number} | {kind: "product", n: number}} Task */
/** @typedef {"lesson" | "all" | "products"} Way */
/** @typedef {{median: number, smallest: number, largest: number, spread: number, noisy: boolean}} Summary in seconds */
/**
 * What timing one size gave.
 * @typedef {object} Slopes
 * @property {number[]} samples seconds per operation
 * @property {number} loops k
 * @property {number} value what the last block's last operation gave
 * @property {"" | "noise" | "slow"} missing why there are too few samples; empty if there are enough
 * @property {boolean} grown whether a block took so long that nothing larger should be tried
 */

export const LESSON_WIDTH = 256;
export const WIDTHS = [64, 256, 1024, 2048]; // of the first hidden layer
export const BATCHES = [16, 64, 256, 1024, 4096];
export const PRODUCTS = [128, 256, 512, 1024, 2048, 4096];

export const SAMPLES = 5;
export const READ_SAMPLES = 3;
export const FEWEST = 3; // samples, below which nothing is said
export const BLOCK_MS = 100; // the least that a block takes
export const LONGEST_STEP_MS = 1_000;
export const LONGEST_BLOCK_MS = 2_000;
const GROWTH_MS = 50; // the least by which a block twice as long is longer, or it was the wait alone
const MOST_LOOPS = 2 ** 16;
const NOISY_SHARE = 0.15;
export const AGREEMENT = 1e-3; // of two results, relative to the larger

/**
 * The sizes of a race, smallest first.
 * @param {Way} way
 * @param {number} most the largest batch; tests have little time
 * @returns {Task[]}
 */
export function tasksOf(way, most = Infinity) {
  if (way === "products") return PRODUCTS.filter((n) => n <= most).map((n) => ({ kind: "product", n }));
  const widths = way === "all" ? WIDTHS : [LESSON_WIDTH];
  const batches = BATCHES.filter((batch) => batch <= most);
  return widths.flatMap((width) => batches.map((batch) => /** @type {Task} */ ({ kind: "step", width, batch })));
}

/** What grows together: a model, or the products. @param {Task} task */
export const groupOf = (task) => (task.kind === "step" ? `width_${task.width}` : "product");

/** A task's name in a result file. @param {Task} task */
export const nameOf = (task) => `${groupOf(task)}.${task.kind === "step" ? `batch_${task.batch}` : `n_${task.n}`}`;

/** @param {Task} task */
export const sizeOf = (task) => (task.kind === "step" ? task.batch : task.n);

/** What one operation works through: samples, or FLOP. @param {Task} task */
export const amountOf = (task) => (task.kind === "step" ? task.batch : 2 * task.n ** 3);

/**
 * Time one operation by slopes.
 * @param {(k: number) => Promise<{ms: number, value: number}>} block runs k operations
 * @param {number} wanted how many samples
 * @returns {Promise<Slopes>}
 */
export async function sloped(block, wanted = SAMPLES) {
  let now = await block(1);
  let loops = 1;
  const found = (/** @type {number[]} */ samples, grown = now.ms > LONGEST_BLOCK_MS) => {
    const missing = samples.length >= Math.min(FEWEST, wanted) ? "" : grown ? "slow" : "noise";
    return /** @type {Slopes} */ ({ samples, loops, value: now.value, missing, grown });
  };
  if (now.ms > LONGEST_STEP_MS) return found([], true);
  for (let long = false; !long; ) {
    const before = now;
    now = await block(2 * loops);
    if (now.ms > LONGEST_BLOCK_MS) return found([]);
    long = before.ms >= BLOCK_MS && now.ms - before.ms >= GROWTH_MS;
    if (loops >= MOST_LOOPS) break;
    if (!long) loops *= 2;
  }
  const samples = [];
  for (let index = 0; index < wanted; index += 1) {
    const one = (now = await block(loops));
    if (now.ms > LONGEST_BLOCK_MS) break;
    now = await block(2 * loops);
    if (now.ms > LONGEST_BLOCK_MS) break;
    const seconds = (now.ms - one.ms) / loops / 1000;
    if (seconds > 0) samples.push(seconds);
  }
  return found(samples);
}

/**
 * The first, second or third quartile, with both ends counted in.
 * @param {number[]} sorted at least one, ascending
 * @param {1 | 2 | 3} number
 */
export function quartile(sorted, number) {
  const at = (/** @type {number} */ index) => sorted[Math.min(index, sorted.length - 1)] ?? NaN;
  const place = number * (sorted.length - 1);
  const below = Math.floor(place / 4);
  const rest = place % 4;
  return (at(below) * (4 - rest) + at(below + 1) * rest) / 4;
}

/** @param {number[]} samples */
export const ascending = (samples) => [...samples].sort((one, other) => one - other);

/**
 * What repeated samples say together.
 * @param {number[]} samples at least one
 * @returns {Summary}
 */
export function summary(samples) {
  const sorted = ascending(samples);
  const at = (/** @type {number} */ index) => sorted[index] ?? NaN;
  const half = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 ? at(half) : (at(half - 1) + at(half)) / 2;
  const spread = quartile(sorted, 3) - quartile(sorted, 1);
  const noisy = spread > NOISY_SHARE * Math.abs(median);
  return { median, smallest: at(0), largest: at(sorted.length - 1), spread, noisy };
}

/** Whether both racers came to the same. @param {number[]} one @param {number[]} other */
export function agree(one, other) {
  const near = (/** @type {number} */ a, /** @type {number} */ b) =>
    Math.abs(a - b) <= AGREEMENT * Math.max(Math.abs(a), Math.abs(b));
  return sound(one) && one.length === other.length && one.every((value, index) => near(value, other[index] ?? NaN));
}

/** Whether a check holds numbers at all. @param {number[]} check */
export const sound = (check) => check.length > 0 && check.every(Number.isFinite);

/**
 * The size from which on the GPU is faster at every size that both measured; null if it never is.
 * The rule is `smallest_winning_size` of results/derived.py.
 * @param {{size: number, cpu?: number | undefined, gpu?: number | undefined}[]} times in seconds
 * @returns {number | null}
 */
export function crossover(times) {
  let winning = null;
  for (const { size, cpu, gpu } of [...times].sort((a, b) => b.size - a.size)) {
    if (cpu === undefined || gpu === undefined) continue;
    if (gpu >= cpu) break;
    winning = size;
  }
  return winning;
}
