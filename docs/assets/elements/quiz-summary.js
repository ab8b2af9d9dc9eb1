// <quiz-summary>: what the record says of a quiz, and which parts to reread.
//
// It improves on a list whose items each link to a question and to the part that answers it. An
// item's first link leads to its check, on this page or on another: of that one the record alone
// speaks. A sentence is judged by its writer, here.

import { CHECKS, browserRecord, readEntries, saveEntry } from "./record.js";
import { IN_WORDS, sumUp } from "./prediction.js";

/** @typedef {import("./lesson-check.js").LessonCheck} LessonCheck */
/** @typedef {import("./prediction.js").Outcome} Outcome */
/** @typedef {{id: string, outcome: Outcome}} Asked */

/** A check of another page, by what the record says of it. @implements {Asked} */
class Elsewhere {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /** @returns {Outcome} */
  get outcome() {
    const kept = readEntries(browserRecord().store, CHECKS)[this.id];
    if (!kept) return "open";
    return kept.had === undefined ? "unjudged" : kept.had ? "agreed" : "missed";
  }
}

export class QuizSummary extends HTMLElement {
  #total = Object.assign(document.createElement("p"), { className: "quiz-total", role: "status" });
  /** @type {{check: Asked, item: HTMLLIElement, result: HTMLSpanElement}[]} */
  #questions = [];

  async connectedCallback() {
    // Its module may come after this one.
    if (document.querySelector("lesson-check")) await customElements.whenDefined("lesson-check");
    if (!this.isConnected) return;
    if (!this.#total.isConnected) this.#build();
    document.addEventListener("record-changed", this.#show);
    this.#show();
  }

  disconnectedCallback() {
    document.removeEventListener("record-changed", this.#show);
  }

  #build() {
    for (const item of this.querySelectorAll("li")) {
      const address = item.querySelector("a")?.getAttribute("href") ?? "";
      const id = address.replace(/^.*#/, "");
      const here = document.getElementById(id);
      if (!address.includes("#") || (here && !here.matches("lesson-check"))) continue;
      const result = Object.assign(document.createElement("span"), { className: "quiz-result" });
      item.append(result);
      const check = here ? /** @type {LessonCheck} */ (here) : new Elsewhere(id);
      this.#questions.push({ check, item, result });
    }
    this.prepend(this.#total);
  }

  #show = () => {
    for (const { check, item, result } of this.#questions) {
      const outcome = check.outcome;
      if (item.dataset.outcome === outcome) continue;
      item.dataset.outcome = outcome;
      result.replaceChildren(IN_WORDS[outcome]);
      if (outcome === "unjudged") result.append(this.#button(check, true), this.#button(check, false));
    }
    this.#total.textContent = sumUp(this.#questions.map(({ check }) => check.outcome));
  };

  /** @param {Asked} check @param {boolean} had */
  #button(check, had) {
    const button = document.createElement("button");
    const textContent = had ? "I had it" : "Reread";
    Object.assign(button, { type: "button", className: "md-button", textContent });
    button.addEventListener("click", () => {
      const { store } = browserRecord();
      const kept = readEntries(store, CHECKS)[check.id];
      if (!kept) return;
      saveEntry(store, CHECKS, check.id, { ...kept, had, at: new Date().toISOString() });
      const item = button.closest("li");
      document.dispatchEvent(new Event("record-changed"));
      item?.querySelector("a")?.focus(); // the button is gone
    });
    return button;
  }
}
