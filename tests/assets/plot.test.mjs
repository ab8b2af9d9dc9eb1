// What Plotly is handed: colours of the palette, and the reader's own machine beside the others.

import assert from "node:assert/strict";
import { test } from "node:test";

import { dressed, mixed, ownTrace } from "../../docs/assets/elements/plot.js";

const LOOK = {
  ink: "#111111",
  muted: "#555555",
  rule: "#dddddd",
  paper: "#ffffff",
  series: ["#000001", "#000002", "#000003", "#000004"],
  font: "sans-serif",
  width: 800,
  touch: false,
};
const BARS = {
  type: "bar",
  orientation: "h",
  name: "GPU (not measured yet)",
  y: ["A", "B"],
  x: [1, null],
  text: ["1 s", ""],
  hovertext: ["A", "B"],
  customdata: ["a.cpu", "b.cpu"],
  meta: 2,
};
const CURVE = { type: "scatter", name: "Rate", x: [1, 2], y: [3, 4], customdata: ["a", "b"], meta: 1 };
const LIMIT = { type: "scatter", name: "Limit", y: ["A", "B"], x: [5, 5], customdata: ["l", "l"], meta: 3 };
const TILES = {
  type: "bar",
  name: "Ratio",
  x: [0, 1],
  base: [-0.47, -0.47],
  y: [0.94, 0.94],
  text: ["1×", "2×"],
  customdata: ["a", "b"],
  meta: { colors: [1, 2], strengths: [0, 1] },
};
const LAYOUT = { height: 200, xaxis: {}, yaxis: { categoryarray: ["A", "B"] } };

/** @param {{[name: string]: number}} values */
const machine = (values, label = "Mine") => ({
  label,
  figures: Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, spread: 0, noisy: false, text: `${value} s` }]),
  ),
});

test("own values stand where customdata names them, and missing ones are null", () => {
  const own = ownTrace(BARS, machine({ "b.cpu": 7 }));

  assert.deepEqual(own.x, [null, 7]);
  assert.deepEqual(own.y, ["A", "B"]);
  assert.deepEqual(own.text, ["", "7 s"]);
  assert.deepEqual(own.hovertext, ["", "Mine<br>7 s"]);
  assert.equal(own.name, "GPU, Mine");
});

test("a curve takes own values upwards, a limit sideways", () => {
  assert.deepEqual(ownTrace(CURVE, machine({ a: 9 })).y, [9, null]);
  assert.deepEqual(ownTrace(LIMIT, machine({ l: 9 })).x, [9, 9]);
});

test("a heat map's own values are written into its cells", () => {
  const own = ownTrace(TILES, machine({ b: 9 }));

  assert.equal(own.mode, "text");
  assert.deepEqual(own.text, ["", "9 s"]);
  assert.deepEqual(own.x, [0, 1]);
  assert.ok(own.y.every((y) => y > 0 && y < 0.5));
});

test("a trace of which nothing was measured, or that names no figures, gets no companion", () => {
  assert.equal(ownTrace(BARS, machine({ other: 1 })), null);
  assert.equal(ownTrace({ ...BARS, customdata: undefined }, machine({ "a.cpu": 1 })), null);
  assert.equal(ownTrace({ ...BARS, customdata: ["constructor", "__proto__"] }, machine({})), null);
});

test("markup in a reader's file stays text", () => {
  const own = ownTrace(BARS, machine({ "a.cpu": 1 }, "<a href='x'>&"));

  assert.equal(own.name, "GPU, &lt;a href='x'&gt;&amp;");
  assert.ok(!own.hovertext[0].includes("<a"));
});

test("colours are those of the palette", () => {
  const { data, layout } = dressed({ data: [BARS, CURVE, TILES], layout: LAYOUT }, LOOK, null);

  assert.equal(data[0].marker.color, "#000002");
  assert.equal(data[1].line.color, "#000001");
  assert.deepEqual(data[2].marker.color, ["#ffffff", "#000002"]);
  assert.equal(layout.font.color, LOOK.ink);
  assert.equal(layout.xaxis.gridcolor, LOOK.rule);
});

test("an axis keeps its ends, and goes further only for the reader's values", () => {
  const layout = { ...LAYOUT, xaxis: { type: "log", range: [-1, 1] } };
  const range = (/** @type {any} */ machine) =>
    dressed({ data: [BARS], layout }, LOOK, machine).layout.xaxis.range;

  assert.deepEqual(range(null), [-1, 1]);
  assert.deepEqual(range(machine({ "a.cpu": 2 })), [-1, 1]);
  assert.ok(range(machine({ "a.cpu": 1000 }))[1] > 3);
});

test("an axis that runs downwards still does, with values below its end", () => {
  const layout = { ...LAYOUT, yaxis: { range: [3.5, -0.5] } };
  const [first, last] = dressed({ data: [TILES], layout }, LOOK, machine({ a: 1 })).layout.yaxis.range;

  assert.deepEqual([first, last], [3.5, -0.5]);
});

test("own bars are told apart without colour", () => {
  const { data } = dressed({ data: [BARS], layout: LAYOUT }, LOOK, machine({ "a.cpu": 1 }));

  assert.equal(data.length, 2);
  assert.equal(data[1].marker.line.width, 2);
  assert.equal(data[0].marker.line, undefined);
});

test("what was handed in stays as it was", () => {
  const plot = { data: [BARS, CURVE, TILES], layout: LAYOUT };
  const before = JSON.stringify(plot);

  dressed(plot, LOOK, machine({ "a.cpu": 1, a: 1 }));

  assert.equal(JSON.stringify(plot), before);
});

test("on a narrow screen the names of bars stand above them, and the chart is higher", () => {
  const plot = { data: [BARS], layout: LAYOUT };
  const wide = dressed(plot, LOOK, null).layout;
  const narrow = dressed(plot, { ...LOOK, width: 350 }, null).layout;

  assert.deepEqual(wide.annotations, []);
  assert.deepEqual(narrow.annotations.map(({ text }) => text), ["A", "B"]);
  assert.equal(narrow.yaxis.showticklabels, false);
  assert.ok(narrow.height > wide.height);
});

test("a finger that drags scrolls the page", () => {
  const touch = dressed({ data: [BARS], layout: LAYOUT }, { ...LOOK, touch: true }, null);

  assert.equal(touch.layout.dragmode, false);
});

test("nothing in the settings leads to another host", () => {
  const { config } = dressed({ data: [], layout: LAYOUT }, LOOK, null);

  assert.equal(config.plotlyServerURL, "");
  assert.equal(config.topojsonURL, "");
  assert.equal(config.displaylogo, false);
});

test("mixing goes from the first colour to the second, in three digits or six", () => {
  assert.equal(mixed("#000", "#ffffff", 0), "#000000");
  assert.equal(mixed("#000000", "#fff", 1), "#ffffff");
  assert.equal(mixed("#000000", "#ffffff", 0.5), "#808080");
  assert.equal(mixed("papaya", "#123456", 0.5), "#123456");
});
