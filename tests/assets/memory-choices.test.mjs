// The memory table only looks up what the site's build has written.

import assert from "node:assert/strict";
import { test } from "node:test";

import { offered, shown } from "../../docs/assets/elements/memory-choices.js";

const step = (/** @type {string} */ name) => ({
  caption: name,
  cells: [["2", "1", "2.00"]],
  says: { both: `${name}, both`, float32: `${name}, 32`, autocast: `${name}, 16` },
});
const CHOICES = {
  SGD: { 8: step("SGD 8"), 32: step("SGD 32") },
  Adam: { 8: step("Adam 8"), 32: step("Adam 32") },
};

test("every list offers what the table has", () => {
  assert.deepEqual(offered(CHOICES), {
    precision: ["both", "float32", "autocast"],
    optimizer: ["SGD", "Adam"],
    batch: ["8", "32"],
  });
  assert.deepEqual(offered({}).batch, []);
});

for (const [precision, columns, says] of [
  ["both", [true, true, true], "Adam 32, both"],
  ["float32", [true, false, false], "Adam 32, 32"],
  ["autocast", [false, true, false], "Adam 32, 16"],
])
  test(`precision ${precision} shows its columns and its sentence`, () => {
    assert.deepEqual(shown(CHOICES, { precision, optimizer: "Adam", batch: "32" }), {
      caption: "Adam 32",
      cells: [["2", "1", "2.00"]],
      columns,
      says,
    });
  });

for (const wrong of [{ optimizer: "Lion" }, { batch: "7" }, { precision: "float8" }])
  test(`${JSON.stringify(wrong)} shows nothing`, () => {
    const chosen = { precision: "both", optimizer: "Adam", batch: "32", ...wrong };

    assert.equal(shown(CHOICES, chosen), undefined);
  });
