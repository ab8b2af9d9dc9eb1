// Where a new line of code begins.

import assert from "node:assert/strict";
import { test } from "node:test";

import { indentAfter } from "../../docs/assets/elements/run/code-box.js";

test("a new line begins where the one before it does, and a step further in after a colon", () => {
  assert.equal("", indentAfter("a = 1"));
  assert.equal("    ", indentAfter("if a:\n    b = 1"));
  assert.equal("    ", indentAfter("for a in b:"));
  assert.equal("        ", indentAfter("def f():\n    if a:  # so"));
  assert.equal("", indentAfter("a = {1: 2}"));
});
