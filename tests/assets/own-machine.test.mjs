// The reader's own machine: which charts it is part of.

import assert from "node:assert/strict";
import { test } from "node:test";

import { measured } from "../../docs/assets/elements/own-machine.js";

const FIGURE = { value: 1, spread: 0, noisy: false, text: "1 s" };
const RACED = { label: "Your browser", figures: { "race.width_256.batch_64": FIGURE } };

test("a chart of which the file has one figure is the reader's too", () => {
  const plot = { data: [{ customdata: ["a.cpu"] }, { customdata: ["race.width_256.batch_64", "b"] }] };

  assert.equal(measured(RACED, plot), true);
});

test("a chart of which the file has nothing is not", () => {
  assert.equal(measured(RACED, { data: [{ customdata: ["mnist_epoch.cpu"] }] }), false);
  assert.equal(measured(RACED, { data: [{ customdata: ["constructor"] }, {}] }), false);
  assert.equal(measured(RACED, { data: [] }), false);
});
