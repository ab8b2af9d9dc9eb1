// The race as lines, rows and sentences: what is drawn, where, and what is said about it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bandVerdict, crossingOf, describe, forecastSeries, forecastVerdict, guessVerdict, leadsOf, rowsOf, seriesOf, sizeSentence, titleOf, verdictOf } from "../../docs/assets/elements/race/chart.js";
import { draw } from "../../docs/assets/elements/chart/drawing.js";
import { amountOf, summary } from "../../docs/assets/elements/race/plan.js";
import { Points } from "../../docs/assets/elements/race/race.js";

const NAMES = { browser_cpu: "CPU in the browser (WebAssembly, 2 threads)", browser_gpu: "GPU (WebGPU, unnamed)" };
const RECORDED = [
  { racer: "cuda", label: "PyTorch on a GPU (recorded 2026-11-21)", steps: { 256: { 1024: 2e6, 16: 1e4 } }, products: { 512: 1e12 } },
  { racer: "cpu", label: "PyTorch on a CPU (recorded 2026-11-21)", steps: { 64: { 16: 1e4 } } },
];

/** @param {object} task @param {string} racer @param {number[]} samples */
function point(task, racer, samples, more = {}) {
  const facts = { racer, name: NAMES[racer], adapter: null, software: false, threads: 2, build: "jspi", engine: "e 1", ...more.facts };
  return { task, racer, samples, amount: amountOf(task), time: summary(samples), loops: 8, readS: null, compared: true, warmupMs: 1500, value: 1, lasted: 2, at: "2026-11-22T14:00:00.000Z", ...more, facts };
}

const step = (batch, width = 256) => ({ kind: "step", width, batch });

/** Points whose steps take these seconds; no time is no point. @param {[number, number | null, number | null][]} times */
function pointsOf(times, taskOf = step) {
  const points = new Points();
  for (const [size, cpu, gpu] of times) {
    if (cpu !== null) points.add(point(taskOf(size), "browser_cpu", [cpu]));
    if (gpu !== null) points.add(point(taskOf(size), "browser_gpu", [gpu]));
  }
  return points;
}

const product = (n) => ({ kind: "product", n });
const RACED = pointsOf([[16, 0.001, 0.002], [64, 0.004, 0.002], [256, 0.016, 0.002]]);

test("a group has a line for each racer, and for what was recorded of it", () => {
  const series = seriesOf(RACED, "width_256", RECORDED);

  assert.deepEqual(["browser_cpu", "browser_gpu", "recorded cuda"], series.map(({ id }) => id));
  assert.deepEqual([16, 1024], series[2].spots.map(({ size }) => size));
  assert.equal("PyTorch on a GPU (recorded 2026-11-21)", series[2].name);
  assert.deepEqual([16_000, 16_000, 16_000], series[0].spots.map(({ value }) => Math.round(value)));
  assert.deepEqual(["recorded cuda"], seriesOf(new Points(), "product", RECORDED).map(({ id }) => id));
  assert.deepEqual([], seriesOf(new Points(), "width_1024", RECORDED));
});

test("a software adapter has a line and a name of its own, and leads nowhere", () => {
  const points = pointsOf([[16, 0.002, null]]);
  const facts = { software: true, name: "software WebGPU adapter (made up), not a GPU" };
  points.add(point(step(16), "browser_gpu", [0.001], { facts }));

  const series = seriesOf(points, "width_256", []);

  assert.deepEqual(["browser_cpu", "software"], series.map(({ id }) => id));
  assert.equal(facts.name, series[1].name);
  assert.deepEqual([null, "", []], [crossingOf(points, "width_256"), verdictOf(points, "width_256"), leadsOf(points)]);
  assert.ok(rowsOf(points, "width_256", []).some(({ cells }) => cells[1] === "Software adapter"));
  assert.ok(!JSON.stringify([series.map(({ short }) => short), sizeSentence(points, step(16))]).includes("GPU"));
});

test("whiskers end at the quartiles, whatever one sample says", () => {
  const points = new Points();
  points.add(point(step(16), "browser_cpu", [0.002, 0.000_000_1, 0.0016, 0.0032, 9]));

  const [{ spots }] = seriesOf(points, "width_256", []);

  assert.deepEqual([8000, 5000, 10_000], [spots[0].value, spots[0].low, spots[0].high].map(Math.round));
});

test("the speed with the loss read is a line only when it is asked for and was measured", () => {
  const points = pointsOf([[16, 0.001, null]]);
  points.add(point(step(16), "browser_gpu", [0.001], { readS: 0.002 }));

  assert.equal(2, seriesOf(points, "width_256", []).length);
  const [, , read] = seriesOf(points, "width_256", [], true);

  assert.deepEqual(["browser_gpu read", "GPU (WebGPU, unnamed), loss read at every step", 8000], [read.id, read.name, read.spots[0].value]);
});

test("a verdict says who leads, from where on and how far", () => {
  const said = (times, taskOf) => verdictOf(pointsOf(times, taskOf), taskOf === product ? "product" : "width_256");

  assert.equal("From batch 64 on, the GPU is faster than the browser’s CPU. At batch 256 the GPU is 8.00 times as fast as the browser’s CPU.", verdictOf(RACED, "width_256"));
  assert.match(said([[16, 2, 1], [64, 2, 1]]), /^At every size that both measured, from batch 16 on, the GPU is faster/);
  assert.equal("So far, the GPU is faster at no size. At batch 16 the browser’s CPU is 3.00 times as fast as the GPU.", said([[16, 1, 3]]));
  assert.match(said([[16, 2, 1], [64, 1, 2]]), /^The GPU does not stay ahead\. At batch 64 the browser’s CPU is 2\.00 times/);
  assert.match(said([[16, 1, 1]]), /At batch 16 the browser’s CPU is as fast as the GPU\.$/);
  assert.match(said([[1024, 2, 1]], product), /from n = 1,024 on/);
  assert.equal("", said([[16, 1, null]]));
  assert.equal("", said([[16, 1, null], [64, null, 1]]), "nothing that both measured");
});

test("several models have a table of where the GPU takes the lead", () => {
  const points = pointsOf([[16, 1, 2], [64, 2, 1]]);
  for (const racer of ["browser_cpu", "browser_gpu"]) points.add(point(step(16, 64), racer, [racer === "browser_cpu" ? 1 : 2]));

  assert.deepEqual([], leadsOf(RACED));
  assert.deepEqual([["The lesson’s model: 784, 256, 128 and 10 units", "batch 64"], ["A model of 784, 64, 32 and 10 units", "never"]], leadsOf(points));
});

test("a size that is done with has one sentence", () => {
  const points = pointsOf([[64, 0.004, null]]);
  points.miss({ task: step(64), racer: "browser_gpu", software: false, reason: "too noisy to say", refuted: false });

  assert.equal("At batch 64: CPU, browser 16,000\u00a0per second; GPU, browser too noisy to say.", sizeSentence(points, step(64)));
  const large = pointsOf([[512, 0.01, null]], product);
  assert.equal("At n = 512: CPU, browser 26.8\u00a0GFLOP/s.", sizeSentence(large, product(512)));
});

test("the table has every point, why others are missing, and what was recorded", () => {
  const points = new Points();
  points.add(point(step(64), "browser_cpu", [0.0039, 0.004, 0.0041, 0.004], { readS: 0.0042 }));
  points.add(point(step(64), "browser_gpu", [0.001, 0.002, 0.003, 0.004], { compared: false }));
  points.miss({ task: step(16), racer: "browser_gpu", software: false, reason: "too noisy", refuted: false });

  const rows = rowsOf(points, "width_256", RECORDED);

  const cells = rows.map((row) => row.cells.map((cell) => cell.replaceAll("\u00a0", " ")));
  assert.deepEqual(["16", "GPU, browser", "too noisy"], cells[0]);
  assert.deepEqual([true, false, false, false, false], rows.map(({ gap }) => gap));
  assert.deepEqual(["16", "GPU, recorded", "10,000 per second", "–", "1.60 ms", "–", "–", "recorded"], cells[1]);
  assert.deepEqual(["64", "CPU, browser", "16,000 per second", "200 per second", "4.00 ms", "4.20 ms", "1.50 s", "agrees within 0.1 %"], cells[2]);
  assert.match(cells[3][2], /per second, noisy$/);
  assert.equal("not compared", cells[3].at(-1));
  assert.equal("1,024", cells[4][0]);
});

test("a product's table has no column for the loss", () => {
  const [row] = rowsOf(pointsOf([[512, 0.01, null]], product), "product", RECORDED.slice(0, 1));

  assert.equal(7, row.cells.length);
  assert.equal("26.8\u00a0GFLOP/s", row.cells[2]);
});

/** What is drawn of a group. */
const drawn = (series, more = {}) => draw(describe(series, { group: "width_256", crossing: null, ...more }));

test("everything lies in the chart, and larger is higher and further right", () => {
  const { height, spots } = drawn(seriesOf(RACED, "width_256", RECORDED), { crossing: 64 });
  const gpu = spots.filter(({ label }) => label.startsWith(NAMES.browser_gpu));

  assert.equal(8, spots.length);
  assert.ok(spots.every(({ x, y }) => x >= 12 && x <= 95 && y >= 30 && y <= 230 && y < height));
  assert.ok(gpu[0].y > gpu[2].y && gpu[0].x < gpu[2].x);
});

test("before the first point there is an axis and no mark", () => {
  const { nodes, spots } = drawn([]);

  assert.deepEqual([], spots);
  assert.ok(nodes.length > 5);
});

test("a mark has quartiles and says where it comes from", () => {
  const points = new Points();
  points.add(point(step(16), "browser_cpu", [1, 1.1, 1.2, 1.3, 1.4]));

  const [{ mark }] = drawn(seriesOf(points, "width_256", RECORDED.slice(0, 1))).spots.filter(({ label }) => label.startsWith(NAMES.browser_cpu));

  assert.ok(mark.low < mark.value && mark.value < mark.high);
  assert.match(mark.source, /this browser/);
});

test("a line leads to the next size alone, and over none that is missing", () => {
  const points = pointsOf([[16, 1, null], [64, 1, null], [1024, 1, null]]);
  const { nodes } = drawn(seriesOf(points, "width_256", []));
  const paths = nodes.filter(([, { preserveAspectRatio }]) => preserveAspectRatio).flatMap(([, , children]) => children);
  const curve = paths.find(([, { class: css }]) => css.startsWith("curve"));

  assert.deepEqual(["M", "L", "M"], curve[1].d.match(/[ML]/g));
});

test("what is raced lies over what was recorded, and the size under way is marked", () => {
  const plane = describe(seriesOf(RACED, "width_256", RECORDED), { group: "width_256", crossing: null, now: 64 });

  assert.deepEqual([RECORDED[0].label, NAMES.browser_gpu, NAMES.browser_cpu], plane.series.map(({ label }) => label));
  assert.equal(64, plane.below.now);
  assert.equal(undefined, plane.lead);
});

test("no two lines look alike without colour", () => {
  const read = seriesOf(pointsOf([[16, 1, 1]]), "width_256", [...RECORDED.slice(0, 1), { ...RECORDED[1], steps: { 256: { 16: 1 } } }]);
  const { series } = describe([...read, { ...read[1], id: "browser_gpu read" }], { group: "width_256", crossing: null });

  assert.equal(5, new Set(series.map(({ dash }) => dash)).size);
});

test("a GPU that leads from the first size on leads everywhere", () => {
  const { lead, below } = describe([], { group: "width_256", crossing: 16 });

  assert.deepEqual([below.low, "GPU ahead from 16 on"], lead);
});

test("models and products have titles", () => {
  assert.equal("A model of 784, 2,048, 1,024 and 10 units", titleOf("width_2048"));
  assert.equal("Matrix products", titleOf("product"));
});

/** A card that is forecast at three batches. */
const CARD = {
  label: "T4",
  steps: { 256: { 64: [4.3e4, "40,000 per second", 2e4, 8e4, "20,000 to 80,000"], 16: [1e4, "10,000 per second", 5e3, 2e4, "5,000 to 20,000"] } },
};

test("a card is beside the racers with its band, in chart and table", () => {
  const [series] = forecastSeries(CARD, "width_256");
  const plane = describe([series], { group: "width_256", crossing: null });

  assert.equal("PyTorch on the T4, by forecast", series.name);
  const marks = plane.series[0].points.map(([, mark]) => mark).filter(({ value }) => value !== null);
  assert.deepEqual([["forecast", 5e3, 2e4], ["forecast", 2e4, 8e4]], marks.map(({ kind, low, high }) => [kind, low, high]));
  assert.ok(JSON.stringify(draw(plane).nodes).includes("hatch c2"));
  const row = ["64", "T4, forecast", "40,000 per second", "20,000 to 80,000", "1.5 ms", "–", "–", "forecast"];
  assert.deepEqual(row, rowsOf(new Points(), "width_256", [], CARD).at(-1).cells.map((cell) => cell.replace("\u00a0", " ")));
  assert.deepEqual([[], [], []], [forecastSeries(CARD, "width_64"), forecastSeries(CARD, "product"), forecastSeries(null, "width_256")]);
});

test("a recorded card lies within the band of its forecast, or the sizes at which it does not are named", () => {
  const said = (recorded, card = "T4") => bandVerdict([{ racer: "cuda", label: "PyTorch on a T4", card, steps: { 256: recorded } }], "width_256", CARD);

  assert.match(said({ 16: 5e3, 64: 8e4, 256: 1 }), /T4 lies within its band/);
  assert.match(said({ 16: 5e3, 64: 8.1e4 }), /^Outside its band .* T4 did at batch 64\.$/);
  assert.match(said({ 16: 4.9e3, 64: 1e5 }), /at batch 16 and batch 64\.$/);
  assert.match(said({ 16: 5e3, 64: 1e5 }, "H100"), /another card/);
  assert.match(said({ 16: 5e3, 64: 1e5 }, null), /another card/);
  assert.equal("", said({ 16: 1e4, 64: 1e5 }, "H100"));
  assert.equal("", said({ 1024: 1 }));
  assert.deepEqual(["", ""], [bandVerdict(RECORDED, "width_256", null), bandVerdict([{ ...RECORDED[1], card: "T4" }], "width_64", CARD)]);
});

test("a forecast leads where its whole band lies above the CPU", () => {
  const alone = (...times) => pointsOf(times.map(([size, cpu]) => [size, cpu, null]));
  const verdict = (points) => forecastVerdict(points, "width_256", CARD);

  assert.match(verdict(alone([16, 16 / 1e4], [64, 64 / 1e4])), /ahead of this browser’s CPU over its whole band from batch 64 on/);
  assert.match(verdict(alone([16, 16 / 1e4], [64, 64 / 4e4])), /surely ahead of this browser’s CPU at no size/);
  assert.match(verdict(alone([16, 16 / 1e5], [64, 64 / 1e5])), /behind this browser’s CPU at every size/);
  assert.deepEqual(["", ""], [verdict(new Points()), forecastVerdict(RACED, "width_256", null)]);
});

test("a guess has a reply of its own for each way in which it can be wrong", () => {
  const never = pointsOf([[16, 0.001, 0.002], [64, 0.001, 0.002]]);
  const said = (guess, points = RACED) => guessVerdict(points, "width_256", guess);

  assert.equal("Your guess: from batch 64 on, and so it is.", said(64));
  assert.equal("Your guess: never, and so it is.", said(0, never));
  const replies = [said(16), said(256), said(0), said(64, never), said(64, pointsOf([[16, 1, null]]))];
  const words = [/It takes more/, /It takes less: batch 64/, /It takes less: batch 64/, /outweighs the arithmetic of every batch/, /No GPU raced here/];
  replies.forEach((reply, index) => assert.match(reply, words[index]));
  assert.deepEqual(["", ""], [said(null), guessVerdict(RACED, "width_64", 16)]);
});

test("a guess is a line in the chart of the lesson's model, at its batch", () => {
  const plane = (guess, group = "width_256") => describe(seriesOf(RACED, "width_256", []), { group, crossing: 64, guess });

  assert.deepEqual([256, "your guess"], plane(256).guess);
  assert.ok(JSON.stringify(draw(plane(256)).nodes).includes("your guess"));
  assert.deepEqual([undefined, undefined, undefined, undefined], [plane(0), plane(null), plane(7), plane(64, "width_64")].map(({ guess }) => guess));
});
