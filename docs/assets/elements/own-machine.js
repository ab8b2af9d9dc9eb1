// The reader's own machine: the figures of a result file that they imported, kept in this browser.
//
// A chart or a table asks `ownMachine()` when it is drawn, and again whenever the window hears
// `own-machine-changed`. The figures and their texts were computed by Python; nothing is here.

import { MACHINE, browserRecord, readEntries, saveEntry } from "./record.js";

/** @typedef {{value: number, spread: number, noisy: boolean, text: string}} Figure */
/** @typedef {{label: string, figures: Record<string, Figure>}} OwnMachine */
/** @typedef {OwnMachine & {at: string, file: string, provenance: Record<string, unknown>}} Kept */

const NAME = "mine"; // there is one machine; another import takes its place
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

/** Everything that is kept of the machine; null if there is none. @returns {Kept | null} */
export function keptMachine() {
  const entry = readEntries(browserRecord().store, MACHINE)[NAME];
  return unsaved ?? /** @type {Kept | undefined} */ (/** @type {unknown} */ (entry)) ?? null;
}

/** The reader's machine, or null. @returns {OwnMachine | null} */
export function ownMachine() {
  const kept = keptMachine();
  return kept && { label: kept.label, figures: kept.figures };
}

/**
 * Keep what a result file said, in place of what was kept before.
 * @param {{provenance: Record<string, unknown>, figures: Record<string, Figure>}} result
 * @param {string} file its name
 * @returns {boolean} whether it outlasts this page
 */
export function keep(result, file = "") {
  const at = new Date().toISOString();
  const entry = { at, file: file.slice(0, 200), label: nameOf(result.provenance), ...result };
  const { store, lasting } = browserRecord();
  const saved = saveEntry(store, MACHINE, NAME, entry);
  if (!saved) saveEntry(store, MACHINE, NAME, null); // the one before is not the one on the screen
  unsaved = saved ? null : entry;
  tell();
  return saved && lasting;
}

/** Remove the machine from this browser. @returns {boolean} whether the browser let it */
export function remove() {
  unsaved = null;
  const removed = saveEntry(browserRecord().store, MACHINE, NAME, null);
  tell();
  return removed;
}

function tell() {
  dispatchEvent(new Event(CHANGED));
}

// Importing or forgetting the learner's record, here or in another window, changes the machine too.
globalThis.document?.addEventListener("record-changed", tell);
globalThis.addEventListener?.("storage", (event) => {
  if (event.key === MACHINE || event.key === null) tell();
});
