// The card that the reader chose: kept in the record, taken along in its file, told to the page.

import assert from "node:assert/strict";
import { test } from "node:test";

const heard = [];
globalThis.localStorage = undefined; // the browser keeps nothing: the choice lasts until the page is closed
globalThis.dispatchEvent = (event) => heard.push(event.type);
const { CARD, FIRST_CARD, MemoryStore, browserRecord, chooseCard, chosenCard, readEntries, saveEntry } = await import(
  "../../docs/assets/elements/record.js"
);
const { RecordError, exportRecord, importRecord } = await import("../../docs/assets/elements/record-file.js");

const AT = "2026-11-23T10:00:00.000Z";

test("everybody begins with the first card, and has the chosen one from then on", () => {
  assert.equal(FIRST_CARD, chosenCard());

  chooseCard("h100");

  assert.equal("h100", chosenCard());
  assert.equal("h100", chosenCard(["t4", "h100"]));
  assert.deepEqual(["card-changed"], heard);
});

test("a card that cannot be shown gives way to the first one", () => {
  chooseCard("gone");

  assert.equal(FIRST_CARD, chosenCard(["t4", "h100"]));
});

test("what is not kept is said", () => {
  assert.equal(false, chooseCard("h100"));
  assert.equal("h100", readEntries(browserRecord().store, CARD).mine.card);
});

test("a record's file takes the card along, and the later choice stays", () => {
  const [here, there] = [new MemoryStore(), new MemoryStore()];
  saveEntry(here, CARD, "mine", { at: AT, card: "l4" });
  saveEntry(there, CARD, "mine", { at: AT.replace("T10", "T09"), card: "t4" });

  importRecord(there, exportRecord(here, new Date(AT)));

  assert.equal("l4", readEntries(there, CARD).mine.card);
});

test("a record that names no card is refused", () => {
  const file = (card) =>
    JSON.stringify({ format: "gpu-training.record", version: 1, kept: { [CARD]: { mine: { at: AT, card } } } });

  for (const card of [undefined, "", "H100 SXM", "<b>", "a".repeat(41)])
    assert.throws(() => importRecord(new MemoryStore(), file(card)), RecordError);
});
