// The reader's own machine: the figures of a result file that they imported, and those of a race that
// they ran in the page, kept in this browser.
//
// A chart or a table asks `ownMachine()` when it is drawn, and again whenever the window hears
// `own-machine-changed`. A file's figures and their texts were computed by Python; nothing is here.

import { MACHINE, browserRecord, readEntries, saveEntry } from "./record.js";

/** @typedef {{value: number, spread: number, noisy: boolean, text: string, label?: string}} Figure */
/** @typedef {{label: string, figures: Record<string, Figure>}} OwnMachine */
/** @typedef {OwnMachine & {at: string, file: string, provenance: Record<string, unknown>, points?: unknown[]}} Kept */

const NAME = "mine"; // there is one file; another import takes its place
const RACE = "race"; // and one race
const CHANGED = "own-machine-changed";

/** @type {Kept | null} what the browser refused to keep, until the page is closed */
let unsaved = null;

/** @param {unknown} value */
const text = (value) => (typeof value === "string" ? value : "");

/** What a reader calls the machine, or the browser that raced. @param {Record<string, unknown>} provenance */
const nameOf = (provenance) =>
  `${provenance.engine ? "Your browser" : "Your machine"} ` +
  `(${text(provenance.gpu) || `${text(provenance.processor)}, ${provenance.cores} cores`})`;

/** One line that says where and when it was measured, as on every page. @param {Record<string, unknown>} at */
export function whereOf(at) {
  const threads = at.threads === 1 ? "1 thread" : `${at.threads} threads`;
  const software = at.engine ? `${at.engine} in ${at.system}` : `PyTorch ${at.torch}`;
  const parts = [at.gpu, at.processor, `${at.cores} cores`, threads, software, at.date];
  return parts.filter(Boolean).join(", ");
}

/** The file and the race that are kept. @returns {{[name: string]: Kept}} */
function everything() {
  const entries = /** @type {{[name: string]: Kept}} */ (/** @type {unknown} */ (readEntries(browserRecord().store, MACHINE)));
  return unsaved ? { ...entries, [NAME]: unsaved } : entries;
}

/** The file and the race that are kept, the file first. @returns {Kept[]} */
export function keptMachines() {
  const { [NAME]: file, [RACE]: race } = everything();
  return [file, race].flatMap((one) => one ?? []);
}

/** The file that is kept, else the race; null if there is none. @returns {Kept | null} */
export const keptMachine = () => keptMachines()[0] ?? null;

/** The reader's machine, or null; of what file and race both have, the later one. @returns {OwnMachine | null} */
export function ownMachine() {
  const kept = keptMachine();
  const inOrder = Object.values(everything()).sort((a, b) => (a.at < b.at ? -1 : 1));
  const figures = inOrder.flatMap(({ label, figures }) => Object.entries(figures).map(([name, one]) => [name, { ...one, label }]));
  return kept && { label: kept.label, figures: Object.fromEntries(figures) };
}

/**
 * Keep what a result file said, in place of what was kept before.
 * @param {{provenance: Record<string, unknown>, figures: Record<string, Figure>}} result
 * @param {string} file its name
 * @returns {boolean} whether it outlasts this page
 */
export function keep(result, file = "") {
  return keepAs(NAME, result, file);
}

/**
 * Keep a race of this browser, in place of the one before.
 * @param {Parameters<typeof keep>[0]} result
 * @param {unknown[]} points from which the race is drawn again
 */
export function keepRace({ provenance, figures }, points) {
  return keepAs(RACE, { provenance, figures, points }, "");
}

/** The race that is kept, or null. @returns {Kept | null} */
export function keptRace() {
  return everything()[RACE] ?? null;
}

/** @param {string} name @param {Parameters<typeof keep>[0] & {points?: unknown[]}} result @param {string} file */
function keepAs(name, result, file) {
  const at = new Date().toISOString();
  const entry = { at, file: file.slice(0, 200), label: nameOf(result.provenance), ...result };
  const { store, lasting } = browserRecord();
  const saved = saveEntry(store, MACHINE, name, entry);
  if (!saved) saveEntry(store, MACHINE, name, null); // the one before is not the one on the screen
  unsaved = saved ? null : entry;
  tell();
  return saved && lasting;
}

/** Remove the machine, or its race alone, from this browser. @returns {boolean} whether the browser let it */
export function remove({ race = false } = {}) {
  unsaved = null;
  const removed = (race ? [RACE] : [NAME, RACE]).map((name) => saveEntry(browserRecord().store, MACHINE, name, null));
  tell();
  return removed.every(Boolean);
}

function tell() {
  dispatchEvent(new Event(CHANGED));
}

// Importing or forgetting the learner's record, here or in another window, changes the machine too.
globalThis.document?.addEventListener("record-changed", tell);
globalThis.addEventListener?.("storage", (event) => {
  if (event.key === MACHINE || event.key === null) tell();
});
