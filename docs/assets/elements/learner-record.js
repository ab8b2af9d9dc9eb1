// <learner-record>: what this browser keeps, with Export, Import and Forget all.

import { CARD, CHECKS, DECISIONS, EDITS, MACHINE, MISSION, PROGRESS, TASKS, browserRecord, readEntries } from "./record.js";

// Loaded when a button is pressed.
const files = () => import("./record-file.js");

/** @param {number} count @param {string} noun */
const several = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

export class LearnerRecord extends HTMLElement {
  #count = Object.assign(document.createElement("p"), { className: "learner-record-count" });
  #message = Object.assign(document.createElement("p"), {
    className: "learner-record-message",
    role: "status",
  });
  #file = Object.assign(document.createElement("input"), {
    type: "file",
    accept: ".json,application/json",
    hidden: true,
  });

  connectedCallback() {
    if (!this.#count.isConnected) this.#build();
    document.addEventListener("record-changed", this.#showCount);
    this.#showCount();
  }

  disconnectedCallback() {
    document.removeEventListener("record-changed", this.#showCount);
  }

  #build() {
    const buttons = document.createElement("p");
    buttons.className = "learner-record-buttons";
    buttons.append(
      this.#button("Export", () => this.#export()),
      " ",
      this.#button("Import", () => this.#file.click()),
      " ",
      this.#button("Forget all", () => this.#forget()),
    );
    this.#file.addEventListener("change", () => this.#import());
    this.append(this.#count, buttons, this.#file, this.#message);
  }

  /** @param {string} text @param {() => void} onClick */
  #button(text, onClick) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "md-button", textContent: text });
    button.addEventListener("click", onClick);
    return button;
  }

  #kept() {
    const { store } = browserRecord();
    const [checks, sections, machines, edits] = [CHECKS, PROGRESS, MACHINE, EDITS].map(
      (key) => Object.keys(readEntries(store, key)).length,
    );
    const done = Object.values(readEntries(store, TASKS)).filter((task) => task.done).length;
    const ticked = done ? `, ${several(done, "ticked task")}` : "";
    const pages = `${several(checks ?? 0, "prediction")}${ticked} and ${several(sections ?? 0, "opened page")}`;
    // The mission says itself what of it cannot be read, so that is not looked for here.
    const has = (/** @type {string} */ key) => store.getItem(key) !== null;
    const more = [machines && "your machine’s figures", has(MISSION) && "your mission", has(DECISIONS) && "your design ledger", has(CARD) && "the GPU that you chose", edits && several(edits, "changed snippet")];
    return [pages, ...more.filter((each) => each)].join(", and ");
  }

  #showCount = () => {
    this.#count.textContent = browserRecord().lasting
      ? `This browser keeps ${this.#kept()}.`
      : `Your browser keeps nothing for this site; until you close this page, it holds ${this.#kept()}.`;
  };

  async #export() {
    const { exportRecord } = await files();
    const now = new Date();
    const file = new Blob([exportRecord(browserRecord().store, now)], { type: "application/json" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `gpu-training-record-${now.toISOString().slice(0, 10)}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    this.#message.textContent = `Exported ${this.#kept()} to ${link.download}.`;
  }

  async #import() {
    const file = this.#file.files?.[0];
    this.#file.value = ""; // so that choosing the same file again counts as a change
    if (!file) return;
    const { RecordError, importRecord } = await files();
    try {
      importRecord(browserRecord().store, await file.text());
      this.#message.textContent = `Imported. There are now ${this.#kept()}.`;
    } catch (problem) {
      const sentence =
        problem instanceof RecordError ? problem.message : "The file can't be read; choose another.";
      this.#message.textContent = `${sentence} Nothing was changed.`;
    }
    document.dispatchEvent(new Event("record-changed"));
  }

  async #forget() {
    const { forgetAll } = await files();
    if (!confirm(`Forget ${this.#kept()}? Export them first if you may want them back.`)) return;
    forgetAll(browserRecord().store);
    this.#message.textContent = "Everything is forgotten.";
    document.dispatchEvent(new Event("record-changed"));
  }
}
