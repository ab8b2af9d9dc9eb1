// What the browser keeps: read safely, repaired without loss, exported and imported.
// Run: node --test tests/assets/

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  CHECKS,
  MISSION,
  MemoryStore,
  PROGRESS,
  TASKS,
  openStore,
  readEntries,
  saveEntry,
} from "../../docs/assets/elements/record.js";
import {
  RecordError,
  exportRecord,
  forgetAll,
  importRecord,
  readExport,
} from "../../docs/assets/elements/record-file.js";

const AT = "2026-11-21T10:00:00.000Z";
const LATER = "2026-11-22T10:00:00.000Z";
const number = (value, at = AT) => ({ kind: "number", value, text: String(value), at });
const visit = { title: "The loop", at: AT };

const filled = () => {
  const store = new MemoryStore();
  saveEntry(store, CHECKS, "steps", number(7));
  saveEntry(store, PROGRESS, "gpu-training/loop/", visit);
  saveEntry(store, TASKS, "lab-step-1-it-exists", { done: true, at: AT });
  return store;
};
const contents = (store) =>
  Object.fromEntries(
    Array.from({ length: store.length }, (_, i) => [store.key(i), store.getItem(store.key(i))]),
  );
const file = (kept, more = {}) =>
  JSON.stringify({ format: "gpu-training.record", version: 1, kept, ...more });

test("an entry that was saved is read again, and others stay", () => {
  const store = new MemoryStore();

  assert.ok(saveEntry(store, CHECKS, "a", number(1)));
  assert.ok(saveEntry(store, CHECKS, "b", number(2)));

  assert.deepEqual(readEntries(store, CHECKS), { a: number(1), b: number(2) });
});

test("saving null removes an entry", () => {
  const store = filled();

  saveEntry(store, CHECKS, "steps", null);

  assert.deepEqual(readEntries(store, CHECKS), {});
});

const DAMAGED = [
  "",
  "{",
  "null",
  "7",
  '"text"',
  "[]",
  "[{}]",
  "undefined",
  '{"steps":',
  "\u0000",
  JSON.stringify({ steps: 7 }),
  JSON.stringify({ steps: null }),
  JSON.stringify({ steps: [] }),
  JSON.stringify({ steps: { ...number(7), kind: "essay" } }),
  JSON.stringify({ steps: { ...number(7), value: "7" } }),
  JSON.stringify({ steps: { ...number(7), at: "yesterday" } }),
  JSON.stringify({ steps: { ...number(7), at: 5 } }),
  JSON.stringify({ steps: { ...number(7), text: "x".repeat(6000) } }),
  JSON.stringify({ steps: { kind: "sentence", value: "", text: "", at: AT } }),
  '{"__proto__": 7}',
];
for (const text of DAMAGED)
  test(`a damaged value is kept under another key: ${text.slice(0, 50)}`, () => {
    const store = new MemoryStore();
    store.setItem(CHECKS, text);

    assert.deepEqual(readEntries(store, CHECKS), {});
    assert.equal(store.getItem(`${CHECKS}.damaged`), text);
    assert.ok(saveEntry(store, CHECKS, "steps", number(7)));
    assert.deepEqual(readEntries(store, CHECKS), { steps: number(7) });
  });

test("a text that nobody could read is exported as damaged, and the file can be imported", () => {
  const store = new MemoryStore();
  store.setItem(MISSION, "{1");

  const read = readExport(exportRecord(store, new Date("2026-11-22T12:00:00Z")));

  assert.deepEqual(read, [[`${MISSION}.damaged`, "{1"]]);
});

test("good entries beside a damaged one survive", () => {
  const store = new MemoryStore();
  const text = JSON.stringify({ good: number(7), bad: 7 });
  store.setItem(CHECKS, text);

  assert.deepEqual(readEntries(store, CHECKS), { good: number(7) });
  assert.deepEqual(JSON.parse(store.getItem(CHECKS)), { good: number(7) });
  assert.equal(store.getItem(`${CHECKS}.damaged`), text);
});

test("a second damaged text does not replace the first", () => {
  const store = new MemoryStore();
  for (const text of ["{1", "{2", "{1"]) {
    store.setItem(CHECKS, text);
    readEntries(store, CHECKS);
  }

  assert.equal(store.getItem(`${CHECKS}.damaged`), "{1");
  assert.equal(store.getItem(`${CHECKS}.damaged.2`), "{2");
  assert.equal(store.getItem(`${CHECKS}.damaged.3`), null);
});

test("nothing is written over a damaged text that could not be put aside", () => {
  const store = new MemoryStore();
  store.setItem(CHECKS, "{");
  const set = store.setItem.bind(store);
  store.setItem = (key, value) => {
    if (key.includes("damaged")) throw new Error("QuotaExceededError");
    set(key, value);
  };

  assert.equal(saveEntry(store, CHECKS, "steps", number(7)), false);
  assert.equal(store.getItem(CHECKS), "{");
});

test("a full storage is reported, not thrown", () => {
  const store = new MemoryStore();
  store.setItem = () => {
    throw new Error("QuotaExceededError");
  };

  assert.equal(saveEntry(store, CHECKS, "steps", number(7)), false);
});

for (const [name, host] of Object.entries({
  throwing: {
    get localStorage() {
      throw new Error("SecurityError");
    },
  },
  missing: {},
  null: { localStorage: null },
}))
  test(`a browser whose storage is ${name} gets one in memory`, () => {
    const { store, lasting } = openStore(host);

    assert.equal(lasting, false);
    assert.ok(saveEntry(store, CHECKS, "steps", number(7)));
    assert.deepEqual(readEntries(store, CHECKS), { steps: number(7) });
  });

test("what was exported can be imported elsewhere", () => {
  const store = filled();
  store.setItem(`${CHECKS}.damaged`, "{");
  store.setItem("gpu-training.later.v1", JSON.stringify({ plan: { at: AT, choice: 2 } }));
  store.setItem("__palette", "not ours");
  const other = new MemoryStore();

  importRecord(other, exportRecord(store, new Date(AT)));

  store.removeItem("__palette");
  assert.deepEqual(
    Object.fromEntries(Object.entries(contents(other)).sort()),
    Object.fromEntries(Object.entries(contents(store)).sort()),
  );
});

test("of two entries with one name the later stays, whichever side it comes from", () => {
  const ours = new MemoryStore();
  saveEntry(ours, CHECKS, "a", number(1, LATER));
  saveEntry(ours, CHECKS, "b", number(2, AT));

  importRecord(ours, file({ [CHECKS]: { a: number(8, AT), b: number(9, LATER), c: number(3) } }));

  assert.deepEqual(readEntries(ours, CHECKS), { a: number(1, LATER), b: number(9, LATER), c: number(3) });
});

test("importing over a damaged value keeps it", () => {
  const store = new MemoryStore();
  store.setItem(CHECKS, "{");

  importRecord(store, file({ [CHECKS]: { steps: number(7) } }));

  assert.equal(store.getItem(`${CHECKS}.damaged`), "{");
  assert.deepEqual(readEntries(store, CHECKS), { steps: number(7) });
});

const BAD_FILES = {
  "an empty file": ["", /empty/],
  "only spaces": [" \n", /empty/],
  "cut short": [file({ [CHECKS]: { steps: number(7) } }).slice(0, -9), /cut short/],
  "no JSON": ["<html></html>", /no JSON/],
  "an image": ["\u0089PNG\r\n\u001a\n\u0000", /no JSON/],
  "too large": [" ".repeat(1_000_000) + "{}", /too large/],
  "a list": ["[]", /no learner's record/],
  "a number": ["7", /no learner's record/],
  null: ["null", /no learner's record/],
  "another format": [JSON.stringify({ format: "notebook", version: 1, kept: {} }), /no learner's record/],
  "a newer version": [file({}, { version: 2 }), /has version 2, and this page reads version 1/],
  "a version in words": [file({}, { version: "one" }), /has version "one"/],
  "no version": [file({}, { version: undefined }), /version undefined/],
  "nothing kept": [file(undefined), /field “kept”/],
  "kept as a list": [file([]), /field “kept”/],
  "a foreign key": [file({ __palette: {} }), /“__palette”, which is not part/],
  "a key of ours without version": [file({ "gpu-training.checks": {} }), /not part/],
  "checks of another version": [file({ "gpu-training.checks.v9": {} }), /reads “gpu-training.checks.v1”/],
  "a feature without entries": [file({ [CHECKS]: 7 }), /holds no entries/],
  "a feature as text": [file({ [CHECKS]: "{}" }), /holds no entries/],
  "an entry that is none": [file({ [CHECKS]: { steps: 7 } }), /“steps” of “gpu-training.checks.v1” is no entry/],
  "an entry without time": [file({ [CHECKS]: { steps: { ...number(7), at: "" } } }), /no valid time/],
  "an impossible time": [file({ [CHECKS]: { steps: number(7, "2026-99-99T") } }), /no valid time/],
  "an unknown kind": [file({ [CHECKS]: { steps: { ...number(7), kind: "essay" } } }), /unknown kind/],
  "a number as text": [file({ [CHECKS]: { steps: number("7") } }), /no valid prediction/],
  "a sentence as number": [file({ [CHECKS]: { a: { ...number(7), kind: "sentence" } } }), /no valid prediction/],
  "a prediction too long": [
    file({ [CHECKS]: { a: { kind: "sentence", value: "x", text: "x".repeat(5001), at: AT } } }),
    /no valid prediction/,
  ],
  "a mark that is none": [file({ [CHECKS]: { a: { ...number(7), had: "yes" } } }), /no valid mark/],
  "tasks of another version": [file({ "gpu-training.tasks.v2": {} }), /reads “gpu-training.tasks.v1”/],
  "a task without a tick": [file({ [TASKS]: { a: { at: AT } } }), /whether it is done/],
  "a task with a tick in words": [file({ [TASKS]: { a: { done: "yes", at: AT } } }), /whether it is done/],
  "a report without text": [file({ "gpu-training.reports.v1": { a: { at: AT } } }), /no valid text/],
  "an address that runs code": [file({ [PROGRESS]: { "javascript:alert(1)/": visit } }), /no address/],
  "an address elsewhere": [file({ [PROGRESS]: { "//example.org/": visit } }), /no address/],
  "an address above the site": [file({ [PROGRESS]: { "../": visit } }), /no address/],
  "a visit without title": [file({ [PROGRESS]: { "gpu-training/loop/": { at: AT } } }), /valid title/],
};
for (const [name, [text, sentence]] of Object.entries(BAD_FILES))
  test(`a bad file is refused in one sentence, and nothing changes: ${name}`, () => {
    const store = filled();
    const before = contents(store);

    assert.throws(
      () => importRecord(store, text),
      (error) => error instanceof RecordError && sentence.test(error.message) && /\.$/.test(error.message),
    );
    assert.deepEqual(contents(store), before);
  });

test("an import that the browser refuses halfway is taken back", () => {
  const store = filled();
  const before = contents(store);
  const set = store.setItem.bind(store);
  let full = true;
  store.setItem = (key, value) => {
    if (key === PROGRESS && full) {
      full = false;
      throw new Error("QuotaExceededError");
    }
    set(key, value);
  };
  const text = file({ [CHECKS]: { new: number(1) }, [PROGRESS]: { "gpu-training/check/": visit } });

  assert.throws(() => importRecord(store, text), /refused to keep/);
  assert.deepEqual(contents(store), before);
});

test("a file's own prototype entry stays an entry", () => {
  assert.throws(() => readExport(file({}).replace("{}", '{"__proto__": {}}')), /not part/);
  assert.equal({}.polluted, undefined);
});

test("forgetting removes all that is ours and nothing else", () => {
  const store = filled();
  store.setItem(`${CHECKS}.damaged`, "{");
  store.setItem("__palette", "theirs");

  forgetAll(store);

  assert.deepEqual(contents(store), { __palette: "theirs" });
});

const NUMBERED = readFileSync(new URL("record-with-numbered-addresses.json", import.meta.url), "utf-8");

test("a record from the days of numbered addresses comes in whole, under the addresses of today", () => {
  const store = new MemoryStore();
  const { [CHECKS]: predictions, [PROGRESS]: progress } = JSON.parse(NUMBERED).kept;

  importRecord(store, NUMBERED);

  assert.deepEqual(readEntries(store, CHECKS), predictions);
  assert.deepEqual(
    Object.entries(readEntries(store, PROGRESS)),
    Object.entries(progress).map(([name, entry]) => [name.replace(/\d\d-/, ""), entry]),
  );
});

test("what a browser kept under a numbered address is found under the one of today", () => {
  const store = new MemoryStore();
  store.setItem(PROGRESS, JSON.stringify({ "gpu-training/05-loop/": visit, "gpu-training/new/": visit }));

  assert.ok(saveEntry(store, PROGRESS, "gpu-training/loop/", { ...visit, at: LATER }));

  const kept = { "gpu-training/new/": visit, "gpu-training/loop/": { ...visit, at: LATER } };
  assert.deepEqual(readEntries(store, PROGRESS), kept);
  assert.equal(store.length, 1);
});

test("of two visits that come to one address, the later stays", () => {
  const store = new MemoryStore();
  const both = { "gpu-training/05-loop/": { ...visit, at: LATER }, "gpu-training/loop/": visit };
  store.setItem(PROGRESS, JSON.stringify(both));

  assert.deepEqual(readEntries(store, PROGRESS), { "gpu-training/loop/": { ...visit, at: LATER } });
  assert.equal(store.length, 1);
});
