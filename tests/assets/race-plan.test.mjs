// The race's plan: which sizes, how an operation is timed, and what the times say.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agree, amountOf, crossover, groupOf, nameOf, sizeOf, sloped, sound, summary, tasksOf } from "../../docs/assets/elements/race/plan.js";
import { rate, rounded, write } from "../../docs/assets/elements/quantities.js";

/** A device that takes so many milliseconds per operation, and as many for the wait; what it was asked for. */
function device(step, { wait = 0, noise = () => 0 } = {}) {
  const asked = [];
  const block = async (k) => {
    asked.push(k);
    return { ms: wait + k * step + noise(asked.length, k), value: 0.25 };
  };
  return { block, asked };
}

/** @param {number[]} samples @param {number} expected */
const near = (samples, expected) => samples.every((sample) => Math.abs(sample / expected - 1) < 1e-9);

test("a way to race names its sizes, smallest first", () => {
  const lesson = tasksOf("lesson");

  assert.deepEqual([16, 64, 256, 1024, 4096], lesson.map(sizeOf));
  assert.deepEqual(["width_256"], [...new Set(lesson.map(groupOf))]);
  assert.deepEqual(["width_64", "width_256", "width_1024", "width_2048"], [...new Set(tasksOf("all").map(groupOf))]);
  assert.equal(20, tasksOf("all").length);
  assert.deepEqual([128, 256, 512, 1024, 2048, 4096], tasksOf("products").map(sizeOf));
  assert.deepEqual([16, 64], tasksOf("lesson", 64).map(sizeOf));
});

test("a task has the name of its entry, and an amount", () => {
  const [step] = tasksOf("lesson");
  const [product] = tasksOf("products");

  assert.deepEqual(["width_256.batch_16", 16], [nameOf(step), amountOf(step)]);
  assert.deepEqual(["product.n_128", 2 * 128 ** 3], [nameOf(product), amountOf(product)]);
});

test("blocks are doubled until they take 100 ms, and five slopes are taken", async () => {
  const { block, asked } = device(3);

  const { samples, loops, missing, grown, value } = await sloped(block);

  assert.equal(64, loops);
  assert.equal(5, samples.length);
  assert.ok(near(samples, 0.003));
  assert.deepEqual(["", false, 0.25], [missing, grown, value]);
  assert.deepEqual([1, 2, 4, 8, 16, 32, 64, 128], asked.slice(0, 8));
  assert.deepEqual([64, 128, 64, 128, 64, 128, 64, 128, 64, 128], asked.slice(8));
});

test("a long wait is in no sample, and does not pass for work", async () => {
  const { block } = device(0.5, { wait: 105 });

  const { samples, loops } = await sloped(block);

  assert.equal(128, loops, "one block has to be 50 ms longer than the other");
  assert.ok(near(samples, 0.0005));
});

test("negative slopes are dropped, and too few of the others say nothing", async () => {
  const often = (bad) => device(10, { noise: (asked, k) => (k === 16 && bad.includes((asked - 5) / 2) ? 1000 : 0) });

  const two = await sloped(often([1, 3]).block);
  const three = await sloped(often([1, 3, 4]).block);

  assert.deepEqual([3, ""], [two.samples.length, two.missing]);
  assert.deepEqual([2, "noise", false], [three.samples.length, three.missing, three.grown]);
});

test("a step of more than a second is not timed at all, and nothing larger is tried", async () => {
  const { block, asked } = device(1200);

  const { samples, missing, grown } = await sloped(block);

  assert.deepEqual([[], "slow", true], [samples, missing, grown]);
  assert.deepEqual([1], asked);
});

test("a step of a second at most is timed, with blocks of two seconds at most", async () => {
  const { block, asked } = device(1000);

  const { samples, missing, grown } = await sloped(block);

  assert.deepEqual([5, "", false], [samples.length, missing, grown]);
  assert.equal(2, Math.max(...asked));
});

test("a block of more than two seconds ends the timing; three samples before it are enough", async () => {
  const lateAt = (call) => device(500, { noise: (asked) => (asked === call ? 3000 : 0) }).block;

  const late = await sloped(lateAt(9));
  const early = await sloped(lateAt(5));
  const first = await sloped(lateAt(2));

  assert.deepEqual([3, "", true], [late.samples.length, late.missing, late.grown]);
  assert.deepEqual([1, "slow", true], [early.samples.length, early.missing, early.grown]);
  assert.deepEqual([0, "slow", true], [first.samples.length, first.missing, first.grown]);
});

test("a clock that stands still ends as noise", async () => {
  const { samples, missing, loops } = await sloped(device(0).block);

  assert.deepEqual([[], "noise"], [samples, missing]);
  assert.equal(2 ** 16, loops);
});

test("with fewer samples wanted, all of them are needed", async () => {
  const { block } = device(200, { noise: (asked, k) => (asked === 4 && k === 2 ? -1000 : 0) });

  assert.equal("noise", (await sloped(block, 3)).missing);
  assert.equal(3, (await sloped(device(200).block, 3)).samples.length);
});

test("samples are reduced as Python reduces them", () => {
  assert.deepEqual({ median: 3, smallest: 1, largest: 9, spread: 2, noisy: true }, summary([4, 1, 9, 2, 3]));
  assert.deepEqual({ median: 2.5, smallest: 1, largest: 4, spread: 1.5, noisy: true }, summary([4, 3, 2, 1]));
  assert.deepEqual({ median: 2, smallest: 2, largest: 2, spread: 0, noisy: false }, summary([2]));
});

test("racers agree within a thousandth, in every value, or not at all", () => {
  assert.ok(agree([2.3, 2.2, 2.1], [2.3, 2.2, 2.1009]));
  assert.ok(!agree([2.3, 2.2, 2.1], [2.3, 2.2, 2.11]));
  assert.ok(!agree([2.3, 2.2], [2.3, 2.2, 2.1]));
  assert.ok(!agree([], []));
  assert.ok(!agree([NaN], [NaN]));
  assert.ok(!agree([Infinity], [Infinity]));
  assert.ok(agree([0], [0]));
  assert.ok(sound([1]) && !sound([1, NaN]) && !sound([]));
});

test("the crossover is where the GPU leads for good, among what both measured", () => {
  const times = (pairs) => pairs.map(([size, cpu, gpu]) => ({ size, cpu, gpu }));

  assert.equal(256, crossover(times([[16, 1, 2], [64, 1, 1], [256, 2, 1], [1024, 4, 1]])));
  assert.equal(16, crossover(times([[1024, 4, 1], [16, 1, 0.5]])), "in any order");
  assert.equal(null, crossover(times([[16, 2, 1], [64, 1, 2]])), "a lead that does not last");
  assert.equal(64, crossover(times([[16, 1, 2], [64, 2, 1], [256, undefined, 9], [1024, 9, undefined]])));
  assert.equal(null, crossover(times([[16, 1, 1]])), "as fast is not faster");
  assert.equal(null, crossover([]));
});

test("a rate and its text are those of a result file", () => {
  const { value, spread } = rate(64, { median: 0.002, spread: 0.0001, noisy: false });

  assert.equal(32_000, value);
  assert.ok(Math.abs(spread - 1600) < 1e-9);
  assert.equal("32,000\u00a0per second", write(value, "samples_per_s", spread));
  assert.equal("1.23\u00a0TFLOP/s", write(1.234e12, "flop_per_s"));
  assert.equal("950\u00a0FLOP/s", write(950, "flop_per_s"));
  assert.equal("1.00\u00a0ms", write(0.001, "s"));
  assert.equal("12.3\u00a0µs", write(0.0000123, "s"));
  assert.equal("1.5\u00a0s", write(1.5, "s", 0.1));
});

test("what lies in the middle goes to the even side, as in Python", () => {
  assert.deepEqual(["2", "4", "0.12", "1,200"], [rounded(2.5, 1), rounded(3.5, 1), rounded(0.125, 0.01), rounded(1250, 100)]);
  assert.deepEqual(["1,000", "0.001000", "1.00"], [rounded(999.7), rounded(0.000_999_99), rounded(1)]);
  assert.equal("12,300,000", rounded(12_345_678));
});
