// The file of the reader's own model: what a good one gives, and one sentence for each bad one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OwnFileError, readOwn } from "../../docs/assets/elements/forecast/own-file.js";

const STEP = {
  ...{ batch: 64, format: "float32", channels_last: false, flop: { float32: 1e9 }, bytes: 1e8 },
  ...{ convolution_bytes: 1e7, launches: 73, operations: 60, weight_bytes: 1e6, peak_bytes: 5e6 },
};
const GOOD = { format: "gpu-training.forecast", version: 1, model: "mine:net", torch: "2.15.0", steps: [STEP] };
const MEASURED = { machine: "Laptop, 4 cores", batch: 64, format: "float32", seconds: 0.02 };
const file = (change) => JSON.stringify({ ...GOOD, ...change });
const step = (change) => file({ steps: [STEP, { ...STEP, ...change }] });

test("a good file gives its model and its steps", () => {
  assert.deepEqual({ model: "mine:net", steps: [STEP], measured: null }, readOwn(file({})));
});

test("what the command measured on a CPU comes along", () => {
  assert.deepEqual(MEASURED, readOwn(file({ measured: MEASURED })).measured);
});

const BAD = {
  empty: [" \n", "is empty"],
  "too large": [`{${" ".repeat(1_000_001)}}`, "more than 1 MB"],
  "cut off": [file({}).slice(0, 80), "damaged or cut off"],
  "the printed table": ["card  time  band", "is not JSON"],
  "a list": ["[1]", "holds no JSON object"],
  "a result file": ['{"version": 2, "cases": {}}', "is not a forecast"],
  "a later version": [file({ version: 2 }), "has version 2, and this page reads version 1"],
  "no model": [file({ model: "" }), "“model” is not a name"],
  markup: [file({ model: "<img src=x>" }), "“model” is not a name"],
  "no steps": [file({ steps: [] }), "holds no counted step"],
  "too many steps": [file({ steps: Array(501).fill(STEP) }), "more than 500 steps"],
  "a step that is a number": [file({ steps: [3] }), "steps\\[0\\] is not an object"],
  "an unknown format": [step({ format: "float8" }), 'steps\\[1\\].format is "float8"'],
  "no layout": [step({ channels_last: undefined }), "steps\\[1\\].channels_last is not true or false"],
  "batch 0": [step({ batch: 0 }), "steps\\[1\\].batch is 0, not a count"],
  "negative bytes": [step({ bytes: -1 }), "steps\\[1\\].bytes is -1, not a count"],
  "half a launch": [step({ launches: 0.5 }), "steps\\[1\\].launches is 0.5, not a count"],
  "no peak": [step({ peak_bytes: undefined }), "steps\\[1\\].peak_bytes is missing, not a count"],
  "a text as FLOP": [step({ flop: { float32: "many" } }), "steps\\[1\\].flop does not hold"],
  "impossible convolutions": [step({ convolution_bytes: 2e8 }), "convolution_bytes is more than all bytes"],
  "a measurement of nothing": [file({ measured: { ...MEASURED, seconds: 0 } }), "“measured” does not name"],
};

for (const [kind, [text, sentence]] of Object.entries(BAD))
  test(`${kind} is refused in a sentence that says what to do`, () => {
    assert.throws(() => readOwn(text), (problem) => {
      assert.ok(problem instanceof OwnFileError);
      assert.match(problem.message, new RegExp(`^[^.]*.*${sentence}.*; write it again with .*\\.$`));
      return true;
    });
  });

test("every bad file has a sentence of its own", () => {
  const said = Object.values(BAD).map(([text]) => {
    try {
      return readOwn(text);
    } catch ({ message }) {
      return message;
    }
  });

  assert.equal(Object.keys(BAD).length - 1, new Set(said).size); // markup is as little a name as nothing is
});
