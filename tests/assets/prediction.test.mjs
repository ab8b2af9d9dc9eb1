// Predictions: numbers as people write them, tolerance, and what is asked for when one is missing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isRight, readNumber, readPrediction, repliesTo, rightlyMatched, rightlyPlaced, verdict } from "../../docs/assets/elements/prediction.js";

const NUMBERS = {
  7: 7,
  " 7 ": 7,
  "0.5": 0.5,
  "0,5": 0.5,
  ".5": 0.5,
  "5.": 5,
  "-3": -3,
  "−3": -3,
  "–3": -3,
  "+3": 3,
  "1200": 1200,
  "1,200": 1200,
  "1 200": 1200,
  "1\u202f200": 1200,
  "1’200": 1200,
  "60,000": 60000,
  "1,234,567.5": 1234567.5,
  "0,125": 0.125,
  "1e-4": 1e-4,
  "6E-8": 6e-8,
  "007": 7,
  "75 %": 75,
  "0.5%": 0.5,
};
for (const [text, expected] of Object.entries(NUMBERS))
  test(`${JSON.stringify(text)} is the number ${expected}`, () => {
    assert.equal(readNumber(text), expected);
  });

for (const text of ["", " ", "seven", "7 batches", "1,2,3", "1.2.3", "0x10", "Infinity", "NaN", "1e", "--1", ".", "-", "½"])
  test(`${JSON.stringify(text)} is no number`, () => {
    assert.ok(Number.isNaN(readNumber(text)));
  });

test("every finite number is read back from its own text", () => {
  for (let n = 0; n < 2000; n += 1) {
    const value = (Math.random() - 0.5) * 10 ** Math.floor(Math.random() * 40 - 20);

    assert.equal(readNumber(String(value)), value);
  }
});

const JUDGED = [
  [true, "number", 7, 7, 0],
  [false, "number", 8, 7, 0],
  [true, "number", 0.1 + 0.2, 0.3, 0],
  [true, "number", 11, 10, 0.1],
  [true, "number", 9, 10, 0.1],
  [false, "number", 11.1, 10, 0.1],
  [false, "number", 8.9, 10, 0.1],
  [true, "number", -11, -10, 0.1],
  [false, "number", 10, -10, 0.1],
  [true, "number", 0, 0, 0],
  [false, "number", 1e-9, 0, 0],
  [true, "number", 6.2e-8, 6e-8, 0.05],
  [true, "choice", 2, 2, 0],
  [false, "choice", 1, 2, 0],
  [true, "line", 12, 12, 0],
  [null, "sentence", "whatever it says", NaN, 0],
];
for (const [expected, kind, value, right, tolerance] of JUDGED)
  test(`${kind} ${value} against ${right} within ${tolerance}: ${expected}`, () => {
    assert.equal(isRight(kind, value, String(right), tolerance), expected);
  });

test("lines are right where every one of them is in a gap of its own", () => {
  const right = "[[0,1],[1,2,4],[7]]";

  assert.deepEqual(rightlyPlaced("0 3 7", right), [true, false, true]);
  assert.deepEqual(rightlyPlaced("0 1", right), [true, true, false]);
  assert.equal(isRight("place", "1 4 7", right, 0), true);
  assert.equal(isRight("place", "1 4 6", right, 0), false);
});

test("rows are right one by one", () => {
  assert.deepEqual(rightlyMatched("1 2 2", "1 2 1"), [true, true, false]);
  assert.deepEqual(rightlyMatched("1 2", "1 2 1"), [true, true, false]);
  assert.equal(isRight("match", "1 2 1", "1 2 1", 0), true);
});

test("tolerance is symmetric and grows with the right number", () => {
  for (let n = 0; n < 1000; n += 1) {
    const right = (Math.random() + 0.01) * 10 ** Math.floor(Math.random() * 20 - 10);
    const tolerance = Math.random() * 0.9;
    const share = Math.random();

    assert.equal(isRight("number", right * (1 + tolerance * share), String(right), tolerance), true);
    assert.equal(isRight("number", right * (1 - tolerance * share), String(right), tolerance), true);
    assert.equal(isRight("number", right * (1 + tolerance + 0.01), String(right), tolerance), false);
  }
});

for (const [kind, text, problem] of [
  ["choice", "", "Choose one of the answers first."],
  ["line", "", "Choose a line first."],
  ["match", "", "Choose one for each first."],
  ["place", "", "Place every line first: choose one, then press a gap."],
  ["number", "", "Type a number first, such as 12 or 0.5."],
  ["number", "many", "Type a number first, such as 12 or 0.5."],
  ["sentence", "", "Write a sentence first; a short one will do."],
  ["sentence", "   too few  ", "Write a sentence first; a short one will do."],
])
  test(`${kind} ${JSON.stringify(text)} is answered with what is missing`, () => {
    assert.deepEqual(readPrediction(kind, text), { problem });
  });

for (const [text, read] of [
  ["101", { problem: "Type a number from 0 to 100." }],
  ["-1", { problem: "Type a number from 0 to 100." }],
  ["100 %", { value: 100 }],
  ["0", { value: 0 }],
  ["", { problem: "Type a number first, such as 12 or 0.5." }],
])
  test(`${JSON.stringify(text)} is held against the bounds of a number`, () => {
    assert.deepEqual(readPrediction("number", text, "0 100"), read);
  });

test("a reply is for each number that it names, and for those between two", () => {
  const answered = (to, values) => values.filter((value) => repliesTo(to, value));

  assert.deepEqual(answered("2 5", [1, 2, 3, 5]), [2, 5]);
  assert.deepEqual(answered("70.0:95.0", [69, 70, 80, 95, 96]), [70, 80, 95]);
});

test("a sentence is kept without the spaces around it", () => {
  assert.deepEqual(readPrediction("sentence", "  Too little work. \n"), { value: "Too little work." });
});

test("each verdict is said in words, and a sentence gets none", () => {
  const kinds = /** @type {const} */ (["choice", "line", "number", "place"]);

  for (const kind of kinds) {
    assert.match(verdict(kind, true, true), /^Right\.$/);
    assert.match(verdict(kind, false, true), /^Not /);
  }
  assert.match(verdict("number", true, false), /close/);
  assert.doesNotMatch(verdict("sentence", null, false), /right|wrong|not/i);
});
