// The learner's record as one file: written, read, merged, forgotten. Pure, like record.js.

import { ANSWERS, CARD, CHECKS, DECISIONS, EDITS, MACHINE, MISSION, PROGRESS, REPORTS, TASKS, isObject, keepDamaged, parsed, problemOf, renamed, repaired } from "./record.js";

/** @typedef {import("./record.js").Store} Store */
/** @typedef {import("./record.js").Entries} Entries */

const OURS = "gpu-training.";
const KEY = /^gpu-training\.([a-z-]+)\.v\d+$/;
const DAMAGED_KEY = /^gpu-training\.[a-z-]+\.v\d+\.damaged(\.\d+)?$/;
const FORMAT = "gpu-training.record";
const VERSION = 1;
const LARGEST_FILE = 1_000_000; // characters; a full record has some ten thousand

/** A file that cannot be taken in; the message is one sentence for the learner. */
export class RecordError extends Error {}

/** @param {Store} store */
function ourKeys(store) {
  const keys = Array.from({ length: store.length }, (_, index) => store.key(index) ?? "");
  return keys.filter((key) => key.startsWith(OURS)).sort();
}

/**
 * Everything that is kept, as the text of a file. What is damaged goes along as it is.
 * @param {Store} store
 * @param {Date} now
 */
export function exportRecord(store, now) {
  const kept = ourKeys(store).map((key) => {
    const text = store.getItem(key) ?? "";
    if (DAMAGED_KEY.test(key)) return [key, text];
    const value = parsed(text);
    // What nobody has put aside yet goes along as damaged, so that the file can be imported.
    return value === undefined ? [`${key}.damaged`, text] : [key, value];
  });
  const file = { format: FORMAT, version: VERSION, exported: now.toISOString() };
  return JSON.stringify({ ...file, kept: Object.fromEntries(kept) }, null, 1) + "\n";
}

/**
 * Read the text of a file that `exportRecord` wrote.
 * @param {string} text
 * @returns {[string, string | Entries][]} keys and what they held
 */
export function readExport(text) {
  const ask = "choose a file that Export wrote";
  if (!text.trim()) throw new RecordError(`The file is empty; ${ask}.`);
  if (text.length > LARGEST_FILE) throw new RecordError(`The file is too large for a record; ${ask}.`);
  const file = parsed(text);
  if (file === undefined) throw new RecordError(`The file is no JSON, or was cut short; ${ask}.`);
  if (!isObject(file) || file.format !== FORMAT)
    throw new RecordError(`The file is no learner's record; ${ask}.`);
  if (file.version !== VERSION)
    throw new RecordError(
      `The record has version ${JSON.stringify(file.version)}, and this page reads version ${VERSION}; ` +
        "export it again from this version of the site.",
    );
  if (!isObject(file.kept)) throw new RecordError(`The record has nothing in its field “kept”; ${ask}.`);
  return Object.entries(file.kept).map(([key, value]) => [key, readKept(key, value)]);
}

/** @param {string} key @param {unknown} value @returns {string | Entries} */
function readKept(key, value) {
  const shown = key.slice(0, 60);
  if (DAMAGED_KEY.test(key) && typeof value === "string") return value;
  const feature = KEY.exec(key)?.[1];
  if (!feature) throw new RecordError(`The record holds “${shown}”, which is not part of one.`);
  for (const known of [CHECKS, PROGRESS, TASKS, REPORTS, MISSION, DECISIONS, MACHINE, EDITS, CARD, ANSWERS])
    if (key !== known && KEY.exec(known)?.[1] === feature)
      throw new RecordError(`The record holds “${shown}”, and this page reads “${known}”.`);
  if (!isObject(value)) throw new RecordError(`In the record, “${shown}” holds no entries.`);
  for (const [name, entry] of Object.entries(value)) {
    const problem = problemOf(key, name, entry);
    if (problem) throw new RecordError(`In the record, “${name.slice(0, 60)}” of “${shown}” ${problem}.`);
  }
  return /** @type {Entries} */ (renamed(key, value));
}

/**
 * Take in a file: of two entries with one name, the later stays. All of it is taken in, or nothing.
 * @param {Store} store
 * @param {string} text
 * @throws {RecordError} if the file is not good, or the browser refuses to keep it
 */
export function importRecord(store, text) {
  const kept = readExport(text);
  const before = new Map(ourKeys(store).map((key) => [key, store.getItem(key) ?? ""]));
  try {
    for (const [key, value] of kept) {
      if (typeof value === "string") keepDamaged(store, key.replace(/\.damaged.*/, ""), value);
      else store.setItem(key, JSON.stringify(merged(repaired(store, key), value)));
    }
  } catch {
    for (const key of ourKeys(store)) if (!before.has(key)) store.removeItem(key);
    for (const [key, value] of before) store.setItem(key, value);
    throw new RecordError("The browser refused to keep the record; make room and import it again.");
  }
}

/** @param {Entries} mine @param {Entries} theirs @returns {Entries} */
function merged(mine, theirs) {
  const later = Object.entries(theirs).filter(
    ([name, entry]) => !Object.hasOwn(mine, name) || entry.at > (mine[name]?.at ?? ""),
  );
  return Object.fromEntries([...Object.entries(mine), ...later]);
}

/** Remove all that is kept, damaged texts included. @param {Store} store */
export function forgetAll(store) {
  for (const key of ourKeys(store)) store.removeItem(key);
}
