// The mission's state: checked before it is shown, kept once, locked in order, exported with the rest.
// Run: node --test tests/assets/

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";

import { CHECKS, DECISIONS, MISSION, MemoryStore, browserRecord, readEntries, saveEntry } from "../../docs/assets/elements/record.js";
import { exportRecord, forgetAll, importRecord } from "../../docs/assets/elements/record-file.js";
import { NAME, isOpen, mission, whereNow } from "../../docs/assets/elements/mission/state.js";
import { agree, fresh, kept, problemOf } from "../../docs/assets/elements/mission/stored.js";

const payload = JSON.parse(readFileSync(new URL("../../docs/assets/mission/memory-mfu.json", import.meta.url)));
const AT = "2026-11-22T12:00:00.000Z";
const LATER = "2026-11-23T12:00:00.000Z";

/** A state after some changes. */
const state = (...changes) => {
  const made = fresh(payload);
  for (const change of changes) change(made);
  return made;
};
const first = ({ act1 }) => Object.assign(act1, { prediction: "B", locked_at: AT });
const revealed = ({ act1 }) => Object.assign(act1, { seen: ["sgd", "adam"], revealed: true });
const reflected = ({ act1 }) => (act1.reflection = { answers: ["2", null, null], checked: true });
const second = ({ act2 }) => Object.assign(act2, { prediction: 75, locked_at: AT });
const reached = ({ act2 }) => (act2.target_reached = true);

test("where everybody begins is a valid state", () => {
  assert.equal(problemOf(fresh(payload), payload), "");
});

test("a field with an endless name makes no endless sentence", () => {
  const problem = problemOf(state((s) => (s["x".repeat(5000)] = 1)), payload);

  assert.equal(problem, `has no valid ${"x".repeat(60)}`);
});

test("what comes back from JSON is the same state", () => {
  const store = new MemoryStore();
  const left = state(first, revealed, reflected, second, reached);
  saveEntry(store, MISSION, NAME, { ...left, at: AT });

  assert.deepEqual(kept(store, payload), { state: left, problem: "" });
});

const MOVE = { n: 1, control: "batch", from: "4", to: "2", before_gb: "91.9", after_gb: "60.0", total_gb: 60 };
const WRONG = [
  ["another version", (s) => (s.v = 2)],
  ["a field that nobody knows", (s) => (s.extra = 1)],
  ["a missing act", (s) => delete s.act2],
  ["an act that is text", (s) => (s.act1 = "<img>")],
  ["a guess outside the options", (s) => Object.assign(s.act1, { prediction: "E", locked_at: AT })],
  ["a percentage above the bounds", (s) => Object.assign(s.act2, { prediction: 101, locked_at: AT })],
  ["a percentage with decimals", (s) => Object.assign(s.act2, { prediction: 35.5, locked_at: AT })],
  ["a guess that was never locked in", (s) => (s.act1.prediction = "B")],
  ["a lock without a guess", (s) => (s.act2.locked_at = AT)],
  ["a reveal before the guess", (s) => (s.act1.revealed = true)],
  ["a control at a value it does not have", (s) => (s.act1.controls.batch = "5")],
  ["a control that the instrument does not have", (s) => (s.act2.controls.turbo = "1")],
  ["too long a reason", (s) => (s.act1.tradeoff.reason = "x".repeat(201))],
  ["two answers instead of three", (s) => (s.act1.reflection.answers = [null, null])],
  ["a hidden part that is none", (s) => (s.act1.hidden = ["params", "gold"])],
  ["too many moves", (s) => (s.laptop.moves = Array(201).fill(MOVE))],
  ["a move to a value that its control does not have", (s) => (s.laptop.moves = [{ ...MOVE, to: "x" }])],
  ["a move of another control's value", (s) => (s.laptop.moves = [{ ...MOVE, control: "optimizer" }])],
  ["a move that leaves nothing in memory", (s) => (s.laptop.moves = [{ ...MOVE, total_gb: 1e-320 }])],
  ["a move before the first", (s) => (s.laptop.moves = [{ ...MOVE, n: 0 }])],
  ["a move with more in it", (s) => (s.laptop.moves = [{ ...MOVE, more: 1 }])],
  ["a row that does not exist", (s) => (s.laptop.smallest = "fp8/adam/none/1")],
  ["a time that is none", (s) => (s.completed_at = "yesterday")],
];
for (const [what, change] of WRONG)
  test(`a state is refused for ${what}`, () => {
    assert.notEqual(problemOf(state(change), payload), "");
  });

for (const text of ["", "{", "7", "[]", '{"memory-mfu":7}', '{"memory-mfu":{}}'])
  test(`storage that holds ${text || "nothing"} is reported, and read as no state`, () => {
    const store = new MemoryStore();
    store.setItem(MISSION, text);

    const found = kept(store, payload);

    assert.equal(found.state, null);
    assert.notEqual(found.problem, "");
    assert.equal(store.getItem(MISSION), text);
  });

test("an empty store, and one with other missions only, are no problem", () => {
  const store = new MemoryStore();

  assert.deepEqual(kept(store, payload), { state: null, problem: "" });
  store.setItem(MISSION, "{}");
  assert.deepEqual(kept(store, payload), { state: null, problem: "" });
});

const OPEN = [
  [[], []],
  [[first], ["prediction-1"]],
  [[first, reflected], ["prediction-1"]],
  [[first, revealed], ["prediction-1", "reveal-1"]],
  [[first, revealed, reflected], ["prediction-1", "reveal-1", "act-2"]],
  [[first, revealed, reflected, second], ["prediction-1", "reveal-1", "act-2", "prediction-2"]],
  [[first, revealed, reflected, second, reached], ["prediction-1", "reveal-1", "act-2", "prediction-2", "laptop"]],
  [[first, revealed, reflected, second, (s) => (s.laptop.early = true)], ["prediction-1", "reveal-1", "act-2", "prediction-2", "laptop"]],
  [[second, reached], []],
  [[(s) => (s.skipped = true)], ["act-2"]],
];
for (const [changes, open] of OPEN)
  test(`after ${changes.map((change) => change.name || "another way").join(", ") || "nothing"}, ${open.length} parts are open`, () => {
    const needs = ["prediction-1", "reveal-1", "act-2", "prediction-2", "laptop"];

    assert.deepEqual(needs.filter((need) => isOpen(state(...changes), need)), open);
  });

test("the rhythm goes through five steps in each act", () => {
  const seen = ({ act1 }) => (act1.seen = ["sgd", "adam"]);
  const fit = ({ laptop }) => (laptop.quantify.checked = true);
  const done = ({ act2 }) => Object.assign(act2.reflection, { choice_checked: true, checked: true });
  const ways = [[], [first], [first, seen], [first, revealed], [first, revealed, reflected]];
  const act2 = [first, revealed, reflected, second];
  const further = [act2, [...act2, reached], [...act2, reached, fit], [...act2, reached, fit, done]];

  assert.deepEqual(
    [...ways, ...further].map((changes) => Object.values(whereNow(state(...changes))).join("/")),
    ["1/0", "1/1", "1/2", "1/3", "2/0", "2/1", "2/2", "2/3", "2/4"],
  );
});

const ASKED = ["adam-extra-memory", "gpu-compute-share"];
const answeredIn = (store) => ASKED.map((id) => readEntries(store, CHECKS)[id]?.value);

test("the mission takes over what the checks of its page keep", () => {
  const store = new MemoryStore();
  saveEntry(store, CHECKS, ASKED[0], { kind: "choice", value: 4, text: "about 24 GB", at: AT });
  saveEntry(store, CHECKS, ASKED[1], { kind: "number", value: 74.6, text: "74.6", at: LATER });
  const taken = state();

  assert.equal(agree(store, taken), false);

  assert.deepEqual([taken.act1.prediction, taken.act1.locked_at], ["D", AT]);
  assert.deepEqual([taken.act2.prediction, taken.act2.locked_at], [75, LATER]);
  assert.equal(problemOf(taken, payload), "");
});

test("a check's time in another zone is taken over as the mission writes times", () => {
  const store = new MemoryStore();
  saveEntry(store, CHECKS, ASKED[0], { kind: "choice", value: 4, text: "about 24 GB", at: "2026-11-22T14:00:00+02:00" });
  const taken = state();

  agree(store, taken);

  assert.equal(taken.act1.locked_at, AT);
  assert.equal(problemOf(taken, payload), "");
});

test("a prediction from before the questions were checks counts, and its check is given it", () => {
  const store = new MemoryStore();
  const old = state(first, second);

  assert.equal(agree(store, old), true);
  assert.equal(agree(store, old), false);

  assert.deepEqual(old, state(first, second));
  assert.deepEqual(answeredIn(store), [2, 75]);
});

test("what a check keeps and no question allows is left alone", () => {
  const store = new MemoryStore();
  saveEntry(store, CHECKS, ASKED[0], { kind: "choice", value: 5, text: "more", at: AT });
  saveEntry(store, CHECKS, ASKED[1], { kind: "number", value: 101, text: "101", at: AT });
  const taken = state();

  agree(store, taken);

  assert.deepEqual(taken, state());
});

// The mission of a window: no page here, so a document that only carries events, and a fetch of ours.

const answers = { ok: true, json: async () => structuredClone(payload) };
/** @type {{[name: string]: any}} */
let answer = answers;
globalThis.document = Object.assign(new EventTarget(), { querySelector: () => null });
globalThis.fetch = async () => answer;
const { store } = browserRecord();
const entry = () => JSON.parse(store.getItem(MISSION) ?? "{}")[NAME];

test("data that cannot be had is said, leaves storage alone, and can be asked for again", async () => {
  const left = JSON.stringify({ [NAME]: { ...state(first), at: AT } });
  store.setItem(MISSION, left);
  const bad = [{ ok: false }, { ok: true, json: async () => JSON.parse("{") }];
  const shapes = [null, [], { ...payload, schema_version: 2 }, { ...payload, controls: undefined }];
  for (answer of [...bad, ...shapes.map((value) => ({ ok: true, json: async () => value }))]) {
    assert.equal(await mission.open(), false);
    assert.match(mission.trouble, /could not be loaded/);
    assert.equal(mission.state, null);
  }
  assert.equal(store.getItem(MISSION), left);

  answer = answers;
  assert.equal(await mission.open(), true);

  assert.equal(mission.trouble, "");
  assert.equal(mission.state.act1.prediction, "B");
});

beforeEach(() => {
  forgetAll(store);
  mission.restore();
});

test("only what was changed is written, and another window's state is taken up", () => {
  mission.save();
  assert.equal(entry(), undefined);

  mission.change(first);
  saveEntry(store, MISSION, NAME, { ...state(second), at: AT });
  mission.refresh();
  assert.equal(mission.state.act1.prediction, "B"); // what is not kept yet stays

  mission.save();
  assert.equal(entry().act1.prediction, "B");
  saveEntry(store, MISSION, NAME, { ...state(first, revealed), at: LATER });
  mission.refresh();
  mission.save();
  assert.equal(entry().act1.revealed, true);
});

test("resetting an act clears that act; Act 1 keeps what was answered in Act 2", () => {
  const all = state(first, revealed, reflected, second, reached, (s) => (s.completed_at = AT));
  const begin = fresh(payload);
  const reset = (part) => {
    mission.change((next) => Object.assign(next, structuredClone(all), { skipped: part === 1 }));
    mission.reset(part);
    return mission.state;
  };

  assert.deepEqual(reset(1), { ...all, act1: begin.act1 });
  assert.equal(isOpen(mission.state, "act-2"), false);
  assert.deepEqual(reset(2), { ...all, act2: begin.act2, laptop: begin.laptop });
  assert.deepEqual(reset("all"), begin);
});

test("resetting an act lets the check of its question ask again", () => {
  const all = () => {
    for (const [n, id] of ASKED.entries()) saveEntry(store, CHECKS, id, { kind: n ? "number" : "choice", value: 3, text: "", at: AT });
    mission.restore();
  };

  const left = [1, 2, "all"].map((part) => {
    all();
    mission.reset(part);
    return answeredIn(store);
  });

  assert.deepEqual(left, [[undefined, 3], [3, undefined], [undefined, undefined]]);
});

test("resetting the mission leaves nothing of it in the browser", () => {
  mission.change(first);
  mission.save();

  mission.reset("all");
  mission.save();

  assert.equal(store.getItem(MISSION), null);
  assert.equal(mission.started, false);
});

test("a foreign state stays until the learner starts fresh, and is then put aside", () => {
  const foreign = JSON.stringify({ [NAME]: { v: 7, act1: {}, at: AT } });
  store.setItem(MISSION, foreign);
  mission.restore();
  mission.change(first);
  mission.save();
  assert.equal(store.getItem(MISSION), foreign);
  assert.match(mission.trouble, /has version 7/);

  mission.startFresh();

  assert.equal(store.getItem(`${MISSION}.damaged`), foreign);
  assert.equal(entry().act1.prediction, "B");
  assert.equal(mission.trouble, "");
});

// The learner's record as one file.

const filled = () => {
  const made = new MemoryStore();
  saveEntry(made, MISSION, NAME, { ...state(first, second), at: AT });
  saveEntry(made, DECISIONS, "8", { at: AT, ledger: { chapter: 8 } });
  return made;
};

test("the record's file carries the mission and its decision, and both come back", () => {
  const other = new MemoryStore();

  importRecord(other, exportRecord(filled(), new Date(AT)));

  assert.deepEqual(kept(other, payload).state, state(first, second));
  assert.equal(other.getItem(DECISIONS), filled().getItem(DECISIONS));
});

test("of two missions and two decisions the later stay", () => {
  const mine = filled();
  const theirs = new MemoryStore();
  saveEntry(theirs, MISSION, NAME, { ...state(first, revealed), at: LATER });
  saveEntry(theirs, DECISIONS, "8", { at: "2026-11-01T12:00:00.000Z", ledger: { chapter: 7 } });

  importRecord(mine, exportRecord(theirs, new Date(LATER)));

  assert.equal(kept(mine, payload).state.act1.revealed, true);
  assert.equal(JSON.parse(mine.getItem(DECISIONS))["8"].ledger.chapter, 8);
});

test("a record with a mission that is none is refused whole, and changes nothing", () => {
  const mine = filled();
  const text = exportRecord(filled(), new Date(AT)).replace('"act1"', '"act9"');
  const before = mine.getItem(MISSION);

  assert.throws(() => importRecord(mine, text), /is no mission/);
  assert.equal(mine.getItem(MISSION), before);
});

test("forgetting all forgets the mission and its decision", () => {
  const mine = filled();

  forgetAll(mine);

  assert.equal(mine.length, 0);
});
