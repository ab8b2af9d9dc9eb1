// <own-report id>: the expected report, and beside it the one that the learner's own file printed.
//
// It improves on recorded outputs, of one machine or of several. Values differ from machine to
// machine, so lines are compared by what they say around their numbers.

import { REPORTS, browserRecord, readEntries, saveEntry } from "./record.js";

/** What a line is about: the text before its colon, or its words without numbers. @param {string} line */
export function topicOf(line) {
  const label = /^[^:]*[^:\s\d][^:]*(?=:\s)/.exec(line)?.[0] ?? line;
  return label.replace(/[-+]?\d[\d.,e×^%–-]*/g, "").replace(/[\s✓✗]+/g, " ").trim().toLowerCase();
}

/** How far a report has come; each of its lines stands for one of the expected report.
 * @param {string} expected @param {string} own */
export function compare(expected, own) {
  const lines = expected.split("\n").filter(topicOf);
  const left = own.split("\n");
  const pairs = lines.map((line) => {
    const at = left.findIndex((each) => topicOf(each) === topicOf(line));
    return { line, own: at < 0 ? undefined : left.splice(at, 1)[0] };
  });
  const missing = pairs.flatMap((pair) => (pair.own === undefined ? [pair.line.trim()] : []));
  const failed = pairs.flatMap((pair) => (pair.line.includes("✓") && pair.own?.includes("✗") ? [pair.own.trim()] : []));
  return { lines: lines.length, there: lines.length - missing.length, missing, failed };
}

/** In a sentence or two, how far a report has come to the one that it is most like.
 * @param {string[]} reports the expected ones @param {string} own */
export function verdict(reports, own) {
  if (!own.trim()) return "";
  if (own.includes("Still to do:")) return "Your file still has TODOs; the report comes after them.";
  const compared = reports.map((expected) => compare(expected, own));
  const { lines, there, missing, failed } = compared.reduce((best, each) => (each.there > best.there ? each : best));
  const far = missing.length
    ? `${there} of ${lines} lines are there. The first one missing is: ${missing[0]}`
    : `All ${lines} lines of the report are there.`;
  if (failed.length) return `Yours says ✗ where this page says ✓: ${failed.join(", ")}. ${far}`;
  return missing.length ? far : `${far} Now compare the values.`;
}

export class OwnReport extends HTMLElement {
  #text = Object.assign(document.createElement("textarea"), { spellcheck: false, maxLength: 5000 });
  #verdict = Object.assign(document.createElement("p"), { className: "report-verdict" });

  connectedCallback() {
    if (!this.#text.isConnected) this.#build();
    document.addEventListener("record-changed", this.#restore);
    this.#restore();
  }

  disconnectedCallback() {
    document.removeEventListener("record-changed", this.#restore);
  }

  /** What the file prints, on one machine or another. */
  get reports() {
    return [...this.querySelectorAll(".output pre")].map((pre) => pre.textContent ?? "");
  }

  #build() {
    const label = document.createElement("label");
    const name = Object.assign(document.createElement("span"), { textContent: "What yours printed" });
    this.#text.rows = Math.max(5, ...this.reports.map((report) => report.trimEnd().split("\n").length));
    this.#text.placeholder = "Paste it here; it stays in your browser.";
    this.#text.addEventListener("input", () => this.#keep());
    label.append(name, this.#text);
    const status = Object.assign(document.createElement("div"), { role: "status" });
    status.append(this.#verdict);
    this.querySelector(".output")?.after(label, status);
  }

  #keep() {
    const { store, lasting } = browserRecord();
    const text = this.#text.value;
    const entry = text.trim() ? { text, at: new Date().toISOString() } : null;
    const kept = saveEntry(store, REPORTS, this.id, entry) && lasting;
    this.#show(kept || !entry);
  }

  #restore = () => {
    const kept = readEntries(browserRecord().store, REPORTS)[this.id];
    if (document.activeElement !== this.#text) this.#text.value = String(kept?.text ?? this.#text.value);
    this.#show(true);
  };

  /** @param {boolean} kept */
  #show(kept) {
    const warning = kept ? "" : " Your browser keeps nothing for this site, so it is gone when you leave.";
    this.#verdict.textContent = verdict(this.reports, this.#text.value) + warning;
  }
}
