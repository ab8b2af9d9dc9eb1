// The ledger's chart finds a place for every label, whatever the bar is like.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { pixels } from "../../docs/assets/elements/mission/draw.js";
import { ABOVE_LINE, BASE, BELOW_LINE, LINE, PLOT, TOP, spread, spreadAround } from "../../docs/assets/elements/mission/ledger-chart.js";

const file = new URL("../../docs/assets/mission/memory-mfu.json", import.meta.url);
const { budgets, ledger, ticks } = JSON.parse(readFileSync(file, "utf8"));

test("labels stay where they want to be if there is room", () => {
  assert.deepEqual(spread([10, 40, 90], 20, 0, 100), [10, 40, 90]);
});

test("labels that want the same place share the move", () => {
  assert.deepEqual(spread([50, 50], 20, 0, 100), [40, 60]);
  assert.deepEqual(spread([50, 50, 50], 20, 0, 100), [30, 50, 70]);
});

test("labels stay within the chart", () => {
  assert.deepEqual(spread([98, 99], 20, 0, 100), [80, 100]);
  assert.deepEqual(spread([1, 2], 20, 10, 100), [10, 30]);
});

test("no labels need no place", () => {
  assert.deepEqual(spreadAround([], LINE, 100), []);
});

for (const [device, { bytes }] of Object.entries(budgets))
  for (const gap of [LINE, 31])
    test(`every bar's labels keep ${gap} pixels apart and clear of the budget of the ${device}`, () => {
      for (const [key, row] of Object.entries(ledger)) {
        const end = ticks[row.axis].at(-1)[0];
        const line = BASE - pixels(bytes, end, PLOT);
        let bottom = BASE;
        const wants = row.bytes.flatMap((/** @type {number} */ size) => {
          const middle = bottom - pixels(size, end, PLOT) / 2;
          bottom -= pixels(size, end, PLOT);
          return size ? [middle] : [];
        });

        const places = spreadAround(wants.reverse(), gap, line);

        assert.equal(places.length, wants.length, key);
        places.forEach((place, index) => {
          assert.ok(index === 0 || place - (places[index - 1] ?? 0) >= gap - 1e-9, key);
          assert.ok(place >= TOP && place <= BASE, key);
          assert.ok(place <= line - ABOVE_LINE + 1e-9 || place >= line + BELOW_LINE - 1e-9, key);
        });
      }
    });
