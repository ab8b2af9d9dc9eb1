// A learner's report beside the expected one.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.HTMLElement ??= class {};
globalThis.document ??= { createElement: () => ({}) };
const { compare, topicOf, verdict } = await import("../../docs/assets/elements/own-report.js");

const EXPECTED = "CUDA available: False\nDevice: cpu\nAll parameters on cpu: ✓";

for (const [line, topic] of [
  ["loss 0.53–0.54 falls", "loss falls"],
  ["CUDA available: False", "cuda available"],
  ["Device: cuda:0", "device"],
  ["float32    0.25    1,024 bytes", "float bytes"],
  ["4 × 32 equals 128", "× equals"],
  ["", ""],
])
  test(`${line || "an empty line"} is about ${topic || "nothing"}`, () => {
    assert.equal(topicOf(line), topic);
  });

test("a line stands for one expected line, not for all that are like it", () => {
  assert.equal(compare("data: 1\ndata: 2\nloss: 3", "data: 4\nloss: 5").there, 2);
  assert.equal(compare("data: 1\ndata: 2\nloss: 3", "data: 4\nloss: 5\ndata: 6").there, 3);
});

test("a line that says ✗ where ✓ is expected has failed", () => {
  const own = "CUDA available: True\nAll parameters on cpu: ✗";
  assert.deepEqual(compare(EXPECTED, own).failed, ["All parameters on cpu: ✗"]);
  assert.match(verdict([EXPECTED], own), /All parameters on cpu: ✗/);
  assert.deepEqual(compare(own, own).failed, []);
});

test("a report is compared with the one that it is most like", () => {
  const withGpu = "CUDA available: True\nDevice: cuda:0\nAll parameters on cuda: ✓";
  assert.equal(verdict([EXPECTED, withGpu], withGpu), verdict([EXPECTED], EXPECTED));
});

test("values may differ, lines may not be missing", () => {
  assert.deepEqual(compare(EXPECTED, "CUDA available: True\nDevice: cuda:0").missing, ["All parameters on cpu: ✓"]);
});

for (const [own, says] of [
  ["  ", ""],
  [EXPECTED, "All 3 lines of the report are there. Now compare the values."],
  ["Still to do:\n  TODO 1.1", "Your file still has TODOs; the report comes after them."],
  ["Device: cpu", "1 of 3 lines are there. The first one missing is: CUDA available: False"],
])
  test(`${JSON.stringify(own)} is judged`, () => {
    assert.equal(verdict([EXPECTED], own), says);
  });
