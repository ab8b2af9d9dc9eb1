// A chart with what only the reader's browser knows: their machine, and the card that they chose.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isPartOf, marksIn, withCard, withOwn } from "../../docs/assets/elements/chart/joined.js";
import { draw } from "../../docs/assets/elements/chart/drawing.js";

const mark = (name, more = {}) => ({ value: 1, text: "1 s", name, ...more });
const FORECAST = { kind: "forecast", low: 0.5, high: 2, band: "0.5 to 2 s" };
const ROWS = {
  shape: "rows",
  unit: "s",
  groups: [
    {
      title: "An epoch",
      card: "T4",
      rows: [
        { label: "CPU", color: 1, mark: mark("a.cpu") },
        { label: "{card}", color: 2, mark: mark("forecast.a.float32.t4.time", FORECAST) },
        { label: "GPU", color: 2, mark: { value: null, name: "a.cuda" } },
      ],
      limits: [{ label: "Limit", color: 3, mark: mark("a.limit") }],
    },
  ],
};
const PLANE = {
  shape: "plane",
  below: { title: "n", low: 1, high: 2, ticks: [[1, "1"], [2, "2"]] },
  title: "Rate",
  unit: "plain",
  series: [{ label: "CPU", color: 1, points: [[1, mark("r.1")], [2, mark("r.2")]] }],
};
const TILES = {
  shape: "tiles",
  titles: ["Across", "Down"],
  columns: ["1"],
  rows: ["1"],
  tiles: [{ column: 0, row: 0, color: 1, strength: 0, words: ["1 s"], marks: [mark("t")] }],
};

/** @param {{[name: string]: number}} values */
const machine = (values) => ({
  label: "Mine",
  figures: Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, spread: 0, noisy: false, text: `${value} s` }]),
  ),
});
const labels = (description) => description.groups[0].rows.map(({ label }) => label);

test("a row of the reader's own follows the one that it belongs to, and fills a hole", () => {
  const joined = withOwn(ROWS, machine({ "a.cpu": 7, "a.cuda": 3 }));

  assert.deepEqual(["CPU", "CPU, your machine", "{card}", "GPU", "GPU, your machine"], labels(joined));
  const { own, color, mark: mine } = joined.groups[0].rows[1];
  assert.deepEqual([true, 4, 7, "7 s", "Mine"], [own, color, mine.value, mine.text, mine.source]);
});

test("where a rate is known, the time of so much work is drawn", () => {
  const group = { title: "Raced", rows: [{ label: "CPU", color: 1, mark: { value: null, name: "r", amount: 60_000 } }] };
  const figures = { r: { value: 20_000, spread: 200, noisy: false, text: "20,000 samples/s", label: "My browser" } };

  const joined = withOwn({ shape: "rows", unit: "s", groups: [group] }, { label: "Mine", figures });

  const { value, text, source } = joined.groups[0].rows[1].mark;
  assert.deepEqual([3, "3.00 s", "My browser"], [value, text.replace("\u00a0", " "), source]);
});

test("a limit of the reader's own is a line too", () => {
  const joined = withOwn(ROWS, machine({ "a.limit": 9 }));

  assert.deepEqual(["Limit", "Limit, your machine"], joined.groups[0].limits.map(({ label }) => label));
});

test("a curve takes the reader's points, and has a gap where there is none", () => {
  const [, own] = withOwn(PLANE, machine({ "r.2": 9 })).series;

  assert.deepEqual(["CPU, your machine", [null, 9]], [own.label, own.points.map(([, { value }]) => value)]);
  assert.equal("1 3", own.dash);
});

test("what another reader measured has no second mark of the reader's own", () => {
  const rows = [{ label: "CPU", color: 1, mark: mark("a.cpu") }, { label: "CPU", color: 1, mark: { ...mark("a.cpu"), by: "Ada" }, note: "Ada" }];

  const joined = withOwn({ shape: "rows", unit: "s", groups: [{ title: "An epoch", rows }] }, machine({ "a.cpu": 9 }));

  assert.deepEqual(["", "mine", "Ada"], joined.groups[0].rows.map(({ own, note }) => (own ? "mine" : (note ?? ""))));
});

test("a tile says the reader's value in words", () => {
  const [tile] = withOwn(TILES, machine({ t: 9 })).tiles;

  assert.deepEqual(["1 s", "yours: 9 s"], tile.words);
});

test("a machine is part of a chart of which it measured one figure", () => {
  for (const description of [ROWS, PLANE, TILES]) assert.equal(false, isPartOf(description, machine({ other: 1 })));
  assert.ok(isPartOf(ROWS, machine({ "a.limit": 1 })));
  assert.ok(isPartOf(PLANE, machine({ "r.1": 1 })));
  const named = { ...PLANE, series: [{ label: "", color: 1, points: [[1, mark("constructor")], [2, mark("__proto__")]] }] };
  assert.equal(false, isPartOf(named, machine({})));
});

test("without a machine or a card a chart stays as it is", () => {
  assert.equal(ROWS, withOwn(ROWS, null));
  assert.equal(ROWS, withCard(ROWS, null));
});

test("the chosen card's forecasts take the place of the T4's, and its name too", () => {
  const figure = [0.1, "100 ms", 0.05, 0.2, "50 to 200 ms"];
  const changed = withCard(ROWS, { label: "H100", figures: { "forecast.a.float32.t4.time": figure } });

  const { texts } = textsOf(changed);
  assert.ok(texts.includes("H100: forecast 100 ms"));
  assert.ok(texts.includes("50 to 200 ms"));
  assert.ok(texts.includes("CPU: 1 s"));
});

test("what is not forecast for the chosen card is not drawn under its name", () => {
  const changed = withCard(ROWS, { label: "H100", figures: {} });

  const { texts, spots } = textsOf(changed);
  assert.deepEqual(["An epoch, CPU", "An epoch, Limit"], spots.map(({ label }) => label));
  assert.ok(!texts.some((text) => text.includes("forecast") || text.includes("H100")));
});

test("nothing that was handed in is changed", () => {
  const before = JSON.stringify([ROWS, PLANE, TILES]);

  for (const description of [ROWS, PLANE, TILES]) {
    withOwn(withCard(description, { label: "H100", figures: {} }), machine({ "a.cpu": 1, "r.1": 2, t: 3 }));
    marksIn(description);
  }

  assert.equal(before, JSON.stringify([ROWS, PLANE, TILES]));
});

/** Every text of a drawing, and its spots. */
function textsOf(description) {
  const { nodes, spots } = draw(description);
  const texts = [];
  const visit = (node) => (typeof node === "string" ? texts.push(node) : node[2].forEach(visit));
  nodes.forEach(visit);
  return { texts, spots };
}
