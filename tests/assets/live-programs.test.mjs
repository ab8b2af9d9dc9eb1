// What a press runs at each place of a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellSteps, programOf, stepsLeft } from "../../docs/assets/elements/live/programs.js";

const NOTEBOOK = {
  cells: [
    { id: "a", cell_type: "code", source: "x = 1\n" },
    { id: "b", cell_type: "markdown", source: ["# Text"] },
    { id: "c", cell_type: "code", source: ["x += 1\n", "print(x)"] },
    { id: "d", cell_type: "code", source: "print(2 * x)" },
  ],
};
const PATH = "notebooks/made-up.ipynb";
const asked = [];
const AROUND = {
  runs: "/née/runs",
  read: async (path) => {
    asked.push(path);
    return NOTEBOOK;
  },
};

/** The code behind each button of a place. */
const codes = async (target, file) => {
  const { actions } = programOf(target, AROUND);
  return Promise.all(actions.map(async ({ steps }) => (await steps(file)).map(({ code }) => code)));
};

test("a function is called", async () => {
  const [[code]] = await codes("mission/worked:print_step");
  assert.equal(code, "from lesson_code.mission.worked import print_step\nprint_step()");
  const [{ label, name }] = programOf("mission/worked:print_step", AROUND).actions;
  assert.deepEqual([label, name], ["Run on this machine", "print_step"]);
});

test("an exercise is copied beside the learner's file, and the file checked, by the lab's own command", async () => {
  const { file, asks } = programOf("check 2 02_amp_training.py", AROUND);
  assert.deepEqual([file, asks], ["/née/runs/lab/02_amp_training.py", true]);
  const first = "from lesson_code.lab.__main__ import main\n";
  assert.deepEqual(await codes("check 2 02_amp_training.py", file), [
    [`${first}main(["start", "/née/runs/lab"])`],
    [`${first}main(["check", "2", "/née/runs/lab/02_amp_training.py"])`],
  ]);
});

test("whatever a path contains stays within its quotes", async () => {
  const file = '/a"]); import os\n#\\b.py';
  const [[start], [check]] = await codes("check 1 01_gpu_basics.py", file);
  const [, , ...words] = /** @type {string[]} */ (JSON.parse(check.slice(check.indexOf("["), -1)));
  assert.deepEqual(words, [file]);
  assert.equal(check.split("\n").length, 2);
  assert.equal(start.split("\n").length, 2);
});

for (const [file, folder] of [["/a/b.py", "/a"], ["b.py", "/née/runs/.."], ["my/b.py", "/née/runs/../my"], ["/b.py", "/"], ["C:\\a\\b.py", "C:\\a"]])
  test(`the exercises of ${file} go to ${folder}`, async () => {
    const [[start]] = await codes("check 1 01_gpu_basics.py", file);
    assert.ok(start.endsWith(`main(["start", ${JSON.stringify(folder)}])`), start);
  });

test("a report runs the learner's file as a script, with its options", async () => {
  const [[code]] = await codes("report 04_accelerated_training.py --precision bf16 --limit-batches 20", "/a/04.py");
  assert.ok(code.includes('sys.argv = ["/a/04.py", "--precision", "bf16", "--limit-batches", "20"]'), code);
  assert.ok(code.endsWith('runpy.run_path(sys.argv[0], run_name="__main__")'), code);
});

test("a cell of the notebook runs after those above it, in the folder of notebooks", async () => {
  const { actions } = programOf(`${PATH}#c`, AROUND);
  const steps = await actions[0].steps("");
  assert.deepEqual(asked.splice(0), [PATH]);
  assert.deepEqual(steps, [
    { once: PATH, code: 'from lesson_site.live import work_in\nwork_in("/née/runs/notebook")' },
    { once: `${PATH}#a`, code: "x = 1\n" },
    { once: `${PATH}#c`, code: "x += 1\nprint(x)" },
  ]);
});

test("what has run in this process does not run again, but for the cell itself", () => {
  const steps = cellSteps(NOTEBOOK, PATH, "d", "/runs");
  const left = stepsLeft(steps, new Set([PATH, `${PATH}#a`, `${PATH}#d`]));
  assert.deepEqual(left.map(({ once }) => once), [`${PATH}#c`, `${PATH}#d`]);
  assert.equal(stepsLeft([{ code: "f()" }], new Set()).length, 1);
});

test("a cell that the notebook lacks has no step", () => {
  assert.deepEqual(cellSteps(NOTEBOOK, PATH, "z", "/runs"), []);
});

for (const target of ["", "check", "check 1", "check 1 a/b.py", "check 12 a.py", 'check 1 a".py', "report a.py; b", "report ../a.py", "/a.ipynb#b", "../a.ipynb#b", "a.ipynb", "https://a.test/b.ipynb#c", "a/b.ipynb#c d"])
  test(`${JSON.stringify(target)} is no place to run`, () => {
    assert.equal(programOf(target, AROUND), undefined);
  });
