// The design ledger: made of what the learner did, and checked when a file comes in.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { validate } from "../../node_modules/@cfworker/json-schema/dist/esm/validate.js";
import { decisionOf, missing, readDecision, recorded } from "../../docs/assets/elements/mission/decision.js";
import { fresh } from "../../docs/assets/elements/mission/stored.js";

const read = (/** @type {string} */ file) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));
const payload = read("docs/assets/mission/memory-mfu.json");
const { files, cases } = read("tests/lesson_site/mission/decision_files.json");
const tools = { ...payload.decision, validate };
const bytesOf = (/** @type {unknown} */ value) => new TextEncoder().encode(JSON.stringify(value));

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const merged = (value, change) =>
  Object.entries(change).reduce(
    (all, [key, part]) => ({ ...all, [key]: isObject(part) && Object.keys(part).length ? merged(all[key], part) : part }),
    { ...(isObject(value) ? value : {}) },
  );

function fileOf({ hex, text, times = 1, of, change, drop = [] }) {
  if (hex) return Uint8Array.from(Buffer.from(hex, "hex"));
  if (text !== undefined) return new TextEncoder().encode(text.repeat(times));
  const ledger = merged(files[of], change);
  for (const name of drop) delete ledger[name];
  return bytesOf(ledger);
}

for (const one of cases)
  test(`the issues of ${one.name}`, () => {
    const { issues } = readDecision(fileOf(one), tools, one.others ?? {});

    assert.deepEqual(issues.map(({ code, path }) => [code, path]), one.expect);
    for (const { message, found } of issues) assert.ok(message && !/[{}]/.test(message) && found.length <= 41);
  });

for (const [name, stands, allowed] of [
  ["another chapter", "7", "the number 8. This file has the number 7."],
  ["a chapter with a named lab", "10", "the number 10."],
  ["a capital letter", '"Adam"', '"adam", "sgd" or "momentum"'],
  ["an unknown key", "1", "baseline_mfu_estimate_pct, chapter, details"],
  ["a file of more than 64 KB", "65537", "65,536 bytes"],
  ["names without quotation marks", '"{chapter:8}"', "no JSON"],
  ["a long unknown key", `"${"v".repeat(39)}…`, "No such key"],
  ["a utilisation for the MFU", "82", "59.1 %"],
  ["below the smallest total", "6.68", "6.69 GB"],
  ["a field is missing", "", "at most 2000"],
])
  test(`what is found and what is allowed: ${name}`, () => {
    const { issues } = readDecision(fileOf(cases.find((one) => one.name === name)), tools, {});

    assert.deepEqual(issues.map(({ found }) => found), [stands]);
    assert.ok(issues[0].message.includes(allowed), issues[0].message);
  });

test("a ledger of an earlier model is still read", () => {
  const current = fileOf({ of: "full", change: { details: { model_version: payload.model_version } } });

  assert.notEqual(payload.model_version, files.full.details.model_version);
  assert.deepEqual([files.full, JSON.parse(new TextDecoder().decode(current))].flatMap((one) => readDecision(bytesOf(one), tools, {}).issues), []);
});

/** A mission in which everything is done. */
function complete() {
  const state = fresh(payload);
  Object.assign(state.act1, { prediction: "B", locked_at: "2026-11-22T12:00:00Z" });
  state.act1.reflection.checked = true;
  state.act1.controls.optimizer = "adam";
  Object.assign(state.act2, { prediction: 75, locked_at: "2026-11-22T12:00:00Z", target_reached: true });
  Object.assign(state.act2.controls, { prefetch: "1", mixed: "1", checkpointing: "1" });
  Object.assign(state.act2.reflection, { choice_checked: true, checked: true });
  state.act2.record = recorded(state);
  const move = { n: 1, control: "batch", from: "4", to: "1", before_gb: "", after_gb: "", total_gb: 41.6543 };
  Object.assign(state.laptop, { moves: [move], smallest: "autocast/sgd/full/1", outcomes_seen: ["searching", "limit_reached"] });
  state.laptop.quantify.checked = true;
  return state;
}

test("a complete mission is a good ledger, and comes back unchanged", () => {
  const ledger = decisionOf(complete(), payload, new Date("2025-01-31T12:00:00.123Z"));
  const move = { n: 1, control: "batch", from: 4, to: 1, total_gb: 41.65 };

  const { value, issues } = readDecision(bytesOf(ledger), tools, {});

  assert.deepEqual(issues, []);
  assert.deepEqual(value, { ...files.full, details: { ...files.full.details, model_version: payload.model_version, laptop_moves: [move] } });
  assert.deepEqual(Object.keys(ledger), Object.keys(files.full));
  assert.deepEqual(Object.keys(/** @type {{}} */ (ledger.details)), Object.keys(files.full.details));
});

test("FP16 takes the analyzer's row of Mixed, and names no bookkeeping", () => {
  const state = complete();
  if (state.act2.record) state.act2.record.precision = "fp16";

  const ledger = /** @type {any} */ (decisionOf(state, payload, new Date()));

  assert.deepEqual([ledger.precision_chosen, ledger.final_mfu_pct], ["fp16", 39.3]);
  assert.equal("mixed_bookkeeping" in ledger.details, false);
});

test("the target is that of the recorded configuration, whatever was reached before", () => {
  const reached = (/** @type {{}} */ change) => {
    const state = complete();
    Object.assign(/** @type {{}} */ (state.act2.record), change);
    return /** @type {any} */ (decisionOf(state, payload, new Date())).details.target_reached;
  };

  assert.equal(complete().act2.target_reached, true);
  assert.equal(reached({ batch: "64" }), true);
  assert.equal(reached({ precision: "fp16" }), true);
  assert.equal(reached({ batch: "64", precision: "fp32" }), false);
  assert.equal(reached({ checkpointing: "0" }), false); // busy enough, and too large
});

test("a fit that only 16-bit numbers reach is not called safe", () => {
  const state = complete();
  Object.assign(state.laptop, { smallest: "pure16/sgd/full/1", fit: true, outcomes_seen: ["fits_unsafe"] });

  const ledger = /** @type {any} */ (decisionOf(state, payload, new Date()));

  assert.deepEqual([ledger.laptop_fit_achieved, ledger.laptop_minimum_memory_gb], [true, 6.69]);
  assert.equal(ledger.details.laptop_fit_numerically_safe, false);
});

test("what is recorded is the analyzer as it stands, with the optimizer chosen before", () => {
  const state = complete();
  const as = { precision: "mixed", prefetch: "1", checkpointing: "1", batch: "32" };
  assert.deepEqual(state.act2.record, { optimizer: "adam", ...as });

  state.act1.controls.optimizer = "sgd";
  state.act2.controls.mixed = "0";
  assert.deepEqual(recorded(state), { optimizer: "adam", ...as, precision: "fp32" });

  state.act2.controls.tensor_effect = "2";
  assert.equal(recorded(state), null);
});

test("everything is missing at first, and nothing in the end", () => {
  assert.deepEqual(missing(fresh(payload)).map(([where]) => where), [
    ...["#predict-1", "#reflect-1", "#predict-2", "#record", "#laptop", "#laptop", "#reflect-2"],
  ]);
  assert.deepEqual(missing(complete()), []);
});

test("a search that found nothing is no outcome", () => {
  const state = complete();
  state.laptop.outcomes_seen = ["searching"];

  assert.deepEqual(missing(state).map(([where]) => where), ["#laptop"]);
});
