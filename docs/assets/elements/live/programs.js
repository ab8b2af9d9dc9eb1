// What a press runs: for each place on a page that can be run, its buttons and their lines of code.
// Pure but for reading a notebook, and tested in Node.
//
// A place says so in data-runs:
//   "mission/worked:print_step"           a function that prints
//   "check 1 01_gpu_basics.py"            an exercise of the lab, in the learner's own file
//   "report 01_gpu_basics.py --option"    that file as a script
//   "notebooks/some.ipynb#cell-07"        a cell, after those above it

import { codeOf } from "./wire.js";

/**
 * @typedef {object} Step
 * @property {string} code
 * @property {string} [once] its name, if it runs once in a process and others build on it
 */
/** @typedef {{label: string, name: string, steps(file: string): Step[] | Promise<Step[]>}} Action a button */
/** @typedef {{actions: Action[], file?: string, asks?: boolean}} Program file: the learner's own; asks: whether for its path */
/** @typedef {{cells: {id: string, cell_type: string, source: string | string[]}[]}} Notebook */
/** @typedef {{runs: string, read(path: string): Promise<Notebook>}} Surroundings runs: the folder of learners' files */

const RUN = "Run on this machine";
const CHECK = /^check (?<exercise>\d) (?<file>\w+\.py)$/;
const REPORT = /^report (?<file>\w+\.py)(?<options>(?: [\w-]+)*)$/;
const CELL = /^(?<path>[\w-]+(?:\/[\w-]+)*\.ipynb)#(?<cell>[\w-]+)$/;

/** Text as Python writes it. @param {string} text */
const quoted = (text) => JSON.stringify(text);

/** A learner's file: as they named it from where they started the server, beside whose site the runs lie.
 * @param {string} file @param {string} runs */
const placed = (file, runs) => (/^([/\\]|[A-Za-z]:)/.test(file) ? file : `${runs}/../${file}`);

/** A call of the lab's command. @param {string[]} words */
const labCode = (...words) => `from lesson_code.lab.__main__ import main\nmain([${words.map(quoted).join(", ")}])`;

/** @param {string} exercise @param {string} file @param {string} runs @returns {Program} */
function checkOf(exercise, file, runs) {
  const folderOf = (/** @type {string} */ path) => path.replace(/[/\\]?[^/\\]*$/, "") || "/";
  return {
    file: `${runs}/lab/${file}`,
    asks: true,
    actions: [
      { label: "Copy the exercises", name: "into that folder", steps: (path) => [{ code: labCode("start", folderOf(placed(path, runs))) }] },
      { label: "Check my file", name: `exercise ${exercise}`, steps: (path) => [{ code: labCode("check", exercise, placed(path, runs)) }] },
    ],
  };
}

/** @param {string} file @param {string[]} options @param {string} runs @returns {Program} */
function reportOf(file, options, runs) {
  const lines = (/** @type {string} */ path) => [
    "import contextlib, runpy, sys",
    `sys.argv = [${[placed(path, runs), ...options].map(quoted).join(", ")}]`,
    "with contextlib.suppress(SystemExit):",
    '    runpy.run_path(sys.argv[0], run_name="__main__")',
  ];
  const steps = (/** @type {string} */ path) => [{ code: lines(path).join("\n") }];
  return { file: `${runs}/lab/${file}`, actions: [{ label: "Run my file", name: file, steps }] };
}

/** A cell's steps: where it works, each cell above it, and the cell. @param {Notebook} notebook @param {string} path @param {string} cell @param {string} runs @returns {Step[]} */
export function cellSteps(notebook, path, cell, runs) {
  const cells = notebook.cells.filter(({ cell_type }) => cell_type === "code");
  const last = cells.findIndex(({ id }) => id === cell);
  const steps = cells.slice(0, last + 1).map(({ id, source }) => ({ once: `${path}#${id}`, code: [source].flat().join("") }));
  const work = `from lesson_site.live import work_in\nwork_in(${quoted(`${runs}/notebook`)})`;
  return steps.length ? [{ once: path, code: work }, ...steps] : [];
}

/** What can be run at a place, or undefined if the target is none. @param {string} target @param {Surroundings} surroundings @returns {Program | undefined} */
export function programOf(target, { runs, read }) {
  const code = codeOf(target);
  if (code) return { actions: [{ label: RUN, name: target.split(":")[1] ?? "", steps: () => [{ code }] }] };
  const { exercise, file = "", options, path = "", cell = "" } =
    (CHECK.exec(target) ?? REPORT.exec(target) ?? CELL.exec(target))?.groups ?? {};
  if (exercise) return checkOf(exercise, file, runs);
  if (file) return reportOf(file, (options ?? "").split(" ").filter(Boolean), runs);
  if (!cell) return undefined;
  const steps = async () => cellSteps(await read(path), path, cell, runs);
  return { actions: [{ label: RUN, name: cell, steps }] };
}

/** The steps that are left: the last one, and what others build on and has not run. @param {Step[]} steps @param {Set<string>} ran */
export function stepsLeft(steps, ran) {
  return steps.filter(({ once }, index) => index === steps.length - 1 || !once || !ran.has(once));
}
