// The points that a record keeps: as they were, or left out.

import assert from "node:assert/strict";
import { test } from "node:test";

import { dayOf, pointsFrom } from "../../docs/assets/elements/race/kept.js";
import { amountOf, summary } from "../../docs/assets/elements/race/plan.js";

const TASK = { kind: "step", width: 256, batch: 64 };
const SAMPLES = [0.002, 0.0021, 0.0019];
const POINT = {
  task: TASK,
  racer: "browser_gpu",
  facts: { racer: "browser_gpu", name: "GPU (WebGPU)", adapter: null, software: false, threads: 2, build: "jspi", engine: "e 1" },
  ...{ samples: SAMPLES, amount: amountOf(TASK), time: summary(SAMPLES), loops: 8, readS: null, compared: true },
  ...{ warmupMs: 150, value: 1.5, lasted: 2, at: "2026-11-22T14:00:00.000Z" },
};

test("a point comes back as it was kept", () => {
  assert.deepEqual([POINT], pointsFrom(JSON.parse(JSON.stringify([POINT]))));
});

test("what follows from the samples is computed from them", () => {
  const [point] = pointsFrom([{ ...POINT, amount: 1, time: { median: 1 } }]);

  assert.deepEqual([64, 0.002], [point.amount, point.time.median]);
});

test("what is no point is left out", () => {
  const facts = { ...POINT.facts, racer: "browser_cpu" };
  const wrong = [
    ...[null, 1, [], {}, { ...POINT, facts }, { ...POINT, racer: "cuda" }, { ...POINT, at: "soon" }, { ...POINT, at: "2026" }, { ...POINT, at: "2026-13-22T14:00:00.000Z" }],
    ...[{ ...POINT, samples: [] }, { ...POINT, samples: [-1] }, { ...POINT, samples: ["1"] }, { ...POINT, value: null }],
    ...[{ ...POINT, task: { kind: "step", width: 3, batch: 64 } }, { ...POINT, task: { kind: "product", n: 3 } }, { ...POINT, task: "step" }],
    ...[{ ...POINT, samples: [1e-300] }, { ...POINT, lasted: 0.01 }, { ...POINT, loops: 1e-320 }, { ...POINT, loops: 1.5 }],
    ...[{ ...POINT, facts: { ...POINT.facts, name: "x".repeat(301) } }, { ...POINT, readS: 0 }],
    ...[{ ...POINT, lasted: 1e20 }, { ...POINT, readS: 1e20 }, { ...POINT, value: -1e19 }, { ...POINT, value: NaN }],
  ];

  assert.deepEqual([], pointsFrom(wrong));
  assert.deepEqual([[], []], [pointsFrom(undefined), pointsFrom("points")]);
});

test("their day is that of the last one", () => {
  assert.equal("23 November 2026", dayOf([{ at: "2026-11-23T12:00:00.000Z" }, { at: "2026-11-22T12:00:00.000Z" }]));
});
