// What the page makes of damaged files and storage: the error of each, or nothing. Reads from
// standard input which reader is asked, and the texts in base64; writes a name and a message each.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { validate } from "../../node_modules/@cfworker/json-schema/dist/esm/validate.js";
import { decisionOf, missing, readDecision, recorded, shown } from "../../docs/assets/elements/mission/decision.js";
import { NAME, OPENS, isOpen, whereNow } from "../../docs/assets/elements/mission/state.js";
import { agree, fresh, kept, problemOf } from "../../docs/assets/elements/mission/stored.js";
import { dayOf, pointsFrom } from "../../docs/assets/elements/race/kept.js";
import { fileable, resultFile } from "../../docs/assets/elements/race/result.js";
import { CHECKS, MACHINE, MISSION, MemoryStore, parsed, problemOf as problemOfEntry } from "../../docs/assets/elements/record.js";
import { readResult } from "../../docs/assets/elements/result-file.js";

const json = (file) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));
const schema = json("results/schema.json");
const payload = json("docs/assets/mission/memory-mfu.json");
const rules = { ...payload.decision, validate };
const AT = "2026-11-22T12:00:00.000Z";
const NOW = new Date(AT);
const bytesOf = (value) => new TextEncoder().encode(JSON.stringify(value));

/** A result file, of which the page knows every figure; what it takes in can be kept. */
function result(bytes, known) {
  const { ignored, ...taken } = readResult(bytes, { schema, validate, known: new Set(known) });
  const problem = problemOfEntry(MACHINE, "a", { at: AT, label: "mine", file: "a.json", ...taken });
  assert.equal(problem, "");
}

/** A design ledger: what is taken in can be looked at, and what is not says why in a sentence. */
function ledger(bytes) {
  const { value, issues } = readDecision(bytes, rules, {});
  for (const { code, path, message, found } of issues) {
    assert.ok(code && path && message && !/[{}\n]/.test(message), `${code}: ${message}`);
    assert.ok(found.length <= 41 && /^[ -~…]*$/.test(found) && /^[ -~…]*$/.test(path), `${path}: ${found}`);
  }
  if (issues.every(({ severity }) => severity === "warning")) assert.ok(shown(value, 100).size > 8);
}

/** The mission and the checks that a browser keeps, one line of the text each. */
function mission(bytes) {
  const [text, ...checks] = new TextDecoder().decode(bytes).split("\u0000");
  const store = new MemoryStore();
  store.setItem(MISSION, text);
  store.setItem(CHECKS, checks.join(""));
  const { state, problem } = kept(store, payload);
  assert.ok(!problem.includes("\n") && problem.length < 200, problem);
  const taken = state ?? fresh(payload);
  agree(store, taken);
  assert.equal(problemOf(taken, payload), "");
  Object.keys(OPENS).forEach((need) => isOpen(taken, need));
  whereNow(taken);
  if (taken.act2.record) taken.act2.record = recorded(taken) ?? taken.act2.record;
  if (missing(taken).length) return;
  const { issues } = readDecision(bytesOf(decisionOf(taken, payload, NOW)), rules, {});
  assert.deepEqual(issues.filter(({ severity }) => severity === "error"), []);
}

/** The races that a record keeps: a point is whole, or left out; of whole ones a file can be made. */
function race(bytes) {
  const points = pointsFrom(parsed(new TextDecoder().decode(bytes)));
  dayOf(points);
  if (!fileable(points).length) return;
  const file = resultFile(points, {}, NOW);
  readResult(bytesOf(file), { schema, validate, known: new Set(Object.keys(file.figures)) });
}

/** What is sound, to be damaged. */
const SOUND = {
  ledger: () => json("tests/lesson_site/mission/decision_files.json").files.full,
  mission: () => {
    const state = fresh(payload);
    Object.assign(state.act1, { prediction: "B", locked_at: AT, seen: ["sgd", "adam"], revealed: true });
    state.act1.reflection = { answers: ["2", null, null], checked: true };
    state.act1.controls.optimizer = "adam";
    Object.assign(state.act2, { prediction: 75, locked_at: AT, target_reached: true });
    Object.assign(state.act2.controls, { prefetch: "1", mixed: "1", checkpointing: "1" });
    Object.assign(state.act2.reflection, { choice_checked: true, checked: true });
    state.act2.record = recorded(state);
    const move = { n: 1, control: "batch", from: "4", to: "1", before_gb: "91.9", after_gb: "60.0", total_gb: 41.6543 };
    Object.assign(state.laptop, { moves: [move], smallest: "autocast/sgd/full/1", outcomes_seen: ["limit_reached"] });
    state.laptop.quantify.checked = true;
    return { [NAME]: { ...state, at: AT } };
  },
};

const READERS = { result, ledger, mission, race };
const { read, texts, known = [] } = JSON.parse(readFileSync(0, "utf8"));
const verdict = (text) => {
  try {
    READERS[read](Buffer.from(text, "base64"), known);
    return ["", ""];
  } catch (problem) {
    return [problem.constructor.name, problem.message];
  }
};
process.stdout.write(JSON.stringify(texts ? texts.map(verdict) : SOUND[read]()));
