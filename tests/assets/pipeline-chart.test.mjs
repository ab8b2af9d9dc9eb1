// The pipeline's charts only look up rows and place what they say.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keyOf, side } from "../../docs/assets/elements/mission/pipeline-chart.js";

test("a configuration names its row, whatever the order of its controls", () => {
  const controls = { batch: "64", tensor_effect: "1", checkpointing: "1", mixed: "0", prefetch: "1" };

  assert.equal(keyOf(controls), "1/0/1/64/1");
});

for (const [at, expected] of /** @type {[number, string][]} */ ([[0, ""], [19, ""], [20, "middle"], [80, "middle"], [81, "end"], [100, "end"]]))
  test(`a label at ${at} % stays inside the drawing`, () => {
    assert.equal(side(at), expected);
  });
