// The reader's own machine: a file that they imported, and a race that they ran.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

globalThis.dispatchEvent ??= () => true;
const { keep, keepRace, keptMachine, keptRace, ownMachine, remove } = await import("../../docs/assets/elements/own-machine.js");

const figure = (value) => ({ value, spread: 0, noisy: false, text: `${value}` });
const FILE = { provenance: { processor: "A laptop", cores: 4 }, figures: { a: figure(1), b: figure(2) } };
const RACE = { provenance: { engine: "onnx", processor: "WebAssembly", cores: 4, gpu: "A GPU" }, figures: { c: figure(3) } };
const values = () => Object.fromEntries(Object.entries(ownMachine()?.figures ?? {}).map(([name, { value }]) => [name, value]));

afterEach(() => remove());

test("a race alone is a machine", () => {
  keepRace(RACE, []);

  assert.equal("Your browser (A GPU)", keptMachine().label);
  assert.deepEqual({ c: 3 }, values());
});

test("a race joins a file, and each figure says whose it is", () => {
  keep(FILE, "mine.json");
  keepRace(RACE, []);

  assert.equal("mine.json", keptMachine().file);
  assert.deepEqual({ a: 1, b: 2, c: 3 }, values());
  const { a, c } = ownMachine().figures;
  assert.deepEqual(["Your machine (A laptop, 4 cores)", "Your browser (A GPU)"], [a.label, c.label]);
});

test("another race takes the place of the one before", () => {
  keepRace(RACE, []);
  keepRace({ ...RACE, figures: { d: figure(4) } }, [1]);

  assert.deepEqual({ d: 4 }, values());
  assert.deepEqual([1], keptRace().points);
});

test("a race can go alone, and goes with the file", () => {
  keep(FILE, "mine.json");
  keepRace(RACE, []);

  remove({ race: true });
  assert.deepEqual({ a: 1, b: 2 }, values());

  keepRace(RACE, []);
  remove();
  assert.equal(null, ownMachine());
});
