// What a quiz comes to, in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { IN_WORDS, sumUp } from "../../docs/assets/elements/prediction.js";

for (const [outcomes, expected] of [
  [["open", "open"], "You have answered none of the 2 yet."],
  [["open", "agreed"], "You have answered 1 of 2, and had 1. Nothing to reread so far."],
  [["agreed", "agreed"], "You have answered 2 of 2, and had 2. Nothing to reread."],
  [["open", "missed"], "You have answered 1 of 2, and had 0. One part is worth rereading, marked below."],
  [["missed", "missed", "unjudged"], "You have answered 3 of 3, and had 0. 2 parts are worth rereading, marked below."],
  [
    ["unjudged", "agreed"],
    "You have answered 2 of 2, and had 1. Compare what you wrote with the answer, and say how it went.",
  ],
])
  test(`${outcomes.join(", ")} is summed up`, () => {
    assert.equal(sumUp(outcomes), expected);
  });

test("each outcome has its words", () => {
  assert.deepEqual(Object.keys(IN_WORDS).sort(), ["agreed", "missed", "open", "unjudged"]);
});
