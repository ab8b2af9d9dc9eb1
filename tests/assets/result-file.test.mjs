// The result file of a learner's machine: read whole, or refused in one sentence.
// Run: node --test tests/assets/

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { validate } from "../../node_modules/@cfworker/json-schema/dist/esm/validate.js";
import { comparison } from "../../docs/assets/elements/comparison.js";
import { whereOf } from "../../docs/assets/elements/own-machine.js";
import { ResultError, expanded, readResult } from "../../docs/assets/elements/result-file.js";

const schema = JSON.parse(readFileSync(new URL("../../results/schema.json", import.meta.url), "utf8"));
const entry = {
  unit: "s",
  device: "cpu",
  median: 2,
  smallest: 2,
  largest: 2,
  spread: 0,
  noisy: false,
  samples: [2],
};
const figure = { value: 2, spread: 0, noisy: false, text: "2 s" };
const good = () => ({
  version: 2,
  provenance: {
    machine: "cpu-2-cores",
    processor: "A processor",
    cores: 2,
    threads: 2,
    gpu: null,
    gpu_details: null,
    cuda: null,
    system: "Linux",
    python: "3.12.0",
    torch: "2.15.0",
    torchvision: "0.29.2",
    numpy: "2.4.6",
    precision: {
      float32_matmul: "highest",
      cuda_matmul_tf32: false,
      cudnn_tf32: true,
      cudnn_benchmark: false,
      float16_reduced_sums: true,
      bfloat16_reduced_sums: true,
    },
    date: "2026-11-21",
    commit: null,
    quick: false,
  },
  cases: {
    tiny_epoch: {
      all: { finished: "2026-11-21T14:00Z", took_s: 9, load_average: null, entries: { "a.cpu": entry } },
    },
  },
  figures: { "a.cpu": figure, "b.cpu": figure },
});
const read = (bytes, known = ["a.cpu"]) =>
  readResult(bytes, { schema, validate, known: new Set(known) });
const bytesOf = (value) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

test("a good file gives its known figures, and names the others", () => {
  const result = read(bytesOf(good()));

  assert.deepEqual(result.figures, { "a.cpu": figure });
  assert.deepEqual(result.ignored, ["b.cpu"]);
  assert.equal(result.provenance.processor, "A processor");
});

test("a mark at the start of UTF-8 text does no harm", () => {
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...bytesOf(good())]);

  assert.deepEqual(read(marked).figures, { "a.cpu": figure });
});

test("a part that was skipped is part of a good file", () => {
  const file = good();
  file.cases.tiny_epoch.gpu = {
    finished: "2026-11-21T14:00Z",
    took_s: 0,
    load_average: 0.5,
    skipped: "it needs a GPU",
  };

  assert.deepEqual(read(bytesOf(file)).ignored, ["b.cpu"]);
});

const race = new URL("../benchmarks/raced_in_a_browser.json", import.meta.url);
const raced = () => JSON.parse(readFileSync(race, "utf8"));

test("a file that names its contributor is a good file, unless the name has markup", () => {
  assert.deepEqual(read(bytesOf({ ...good(), contributor: "Ada" })).figures, { "a.cpu": figure });
  assert.throws(() => read(bytesOf({ ...good(), contributor: "<b>Ada</b>" })), /contributor/);
});

test("what a race in a browser saves is a good file", () => {
  const known = Object.keys(raced().figures);

  const { figures, ignored, provenance } = read(bytesOf(raced()), known);

  assert.deepEqual(figures, raced().figures);
  assert.deepEqual(ignored, []);
  assert.match(whereOf(provenance), /, onnxruntime-web 1\.30\.0 in Made-up browser 1, Linux, 2026-11-22$/);
});

const RACE_CHANGES = [
  ["an engine with markup", (f) => (f.provenance.engine = "<b>"), /provenance\.engine: .*angle brackets/],
  ["an engine that is none", (f) => (f.provenance.engine = null), /provenance\.engine: .*wrong kind/],
  [
    "a device that nobody knows",
    (f) => (f.cases.race["width_256.batch_16"].entries["width_256.batch_16.browser_gpu"].device = "webgl"),
    /browser_gpu\.device: /,
  ],
];
for (const [name, change, sentence] of RACE_CHANGES) {
  test(`${name} is refused in the file of a race`, () => {
    const file = raced();
    change(file);

    assert.throws(() => read(bytesOf(file)), (error) => error instanceof ResultError && sentence.test(error.message));
  });
}

const CHANGES = [
  ["a negative time", (f) => (f.cases.tiny_epoch.all.entries["a.cpu"].median = -1), /median: -1 is too small/],
  ["a field that nobody knows", (f) => (f.provenance.owner = "me"), /provenance\.owner: no result file/],
  ["a field that is missing", (f) => delete f.provenance.torch, /At provenance: .*torch/],
  ["markup in a name", (f) => (f.provenance.gpu = "<b>GPU</b>"), /provenance\.gpu: .*angle brackets/],
  ["a number as text", (f) => (f.figures["a.cpu"].value = "2"), /figures\.a\.cpu\.value: "2" is of the wrong kind/],
  ["neither entries nor a reason", (f) => delete f.cases.tiny_epoch.all.entries, /tiny_epoch\.all: it needs either/],
  ["a figure's name that is none", (f) => (f.figures["A B"] = figure), /figures.*figure's name/],
  ["a day that is none", (f) => (f.provenance.date = "2026-02-31"), /provenance\.date: there is no 2026-02-31/],
  ["a day to come", (f) => (f.provenance.date = "2099-12-31"), /2099-12-31 lies in the future/],
  ["another median than its samples'", (f) => (f.cases.tiny_epoch.all.entries["a.cpu"].median = 3), /median: it is 3/],
  ["more than its time", (f) => (f.cases.tiny_epoch.all.took_s = 1), /sum to more than the part/],
  ["a version of two kinds", (f) => (f.version = "two"), /version: "two" is none of what may be there/],
  ["a name that is too long", (f) => (f.figures["a".repeat(200)] = figure), /its name has to be a figure's name/],
  [
    "a figure that says something else",
    (f) => (f.figures["tiny_epoch.a.cpu"] = { ...figure, text: "1 ms" }),
    /figures\.tiny_epoch\.a\.cpu: it does not follow/,
  ],
  ["a mark from right to left", (f) => (f.provenance.gpu = "A\u202e"), /character that nobody sees/],
  ["no figures", (f) => (f.figures = {}), /nothing was measured/],
  ["a text that runs over lines", (f) => (f.figures["a.cpu"].text = "2\ns"), /text: .*one line/],
];
for (const [name, change, sentence] of CHANGES) {
  test(`${name} is refused with its place`, () => {
    const file = JSON.parse(JSON.stringify(good()));
    change(file);

    assert.throws(() => read(bytesOf(file)), (error) => error instanceof ResultError && sentence.test(error.message));
  });
}

test("a key that stands twice is refused", () => {
  const text = JSON.stringify(good()).replace('"quick":false', '"quick":false,"quick":false');

  assert.throws(() => read(bytesOf(text)), /it has a key twice/);
});

test("a number beyond all numbers is refused as that", () => {
  const text = JSON.stringify(good()).replace('"took_s":9', '"took_s":1e999');

  assert.throws(() => read(bytesOf(text)), /a number beyond all numbers/);
});

test("every way of cutting a file short is refused in a sentence", () => {
  const whole = bytesOf(good());

  for (let end = 0; end < whole.length; end += 7)
    assert.throws(() => read(whole.slice(0, end)), ResultError, `cut at ${end}`);
});

test("a name that objects inherit is no figure", () => {
  const text = JSON.stringify(good()).replace('"b.cpu"', '"__proto__"');

  assert.deepEqual(read(bytesOf(text)).ignored, ["__proto__"]);
});

test("a name with braces stands for every combination", () => {
  assert.deepEqual(expanded("a.{1,2}_{x,y}"), ["a.1_x", "a.1_y", "a.2_x", "a.2_y"]);
  assert.deepEqual(expanded("a.b"), ["a.b"]);
});

test("the comparison is a Markdown table that no cell can break", () => {
  const text = comparison([["What", "A | B"], ["one\nepoch", "2 s"]], ["Measured *here*."]);

  assert.equal(
    text,
    "# My machine beside others\n\n| What | A \\| B |\n| --- | --- |\n| one epoch | 2 s |\n\n- Measured \\*here\\*.\n",
  );
});
