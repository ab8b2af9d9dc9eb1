// <lesson-check kind right [tolerance] [unit]>: asks for a prediction before it opens the answer.
//
// It improves on HTML that says everything: the question, what to choose from, and a <details> with
// the answer. It sends `check-committed` when a prediction is made.

import { CHECKS, browserRecord, readEntries, saveEntry } from "./record.js";
import { isRight, readPrediction, verdict } from "./prediction.js";

/** @typedef {import("./prediction.js").Kind} Kind */
/** @typedef {{kind: Kind, value: number | string, text: string, at: string}} Prediction */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

let saidNotKept = false;

export class LessonCheck extends HTMLElement {
  #form = make("form", { className: "check-form", noValidate: true });
  #fields = make("fieldset", {}, make("legend", { textContent: "Your prediction" }));
  #commit = make("button", {
    className: "md-button md-button--primary check-commit",
    textContent: "Commit my prediction",
  });
  #message = make("p", { className: "check-message" });
  // The live region is there before its text, whether or not a style hides the empty paragraph.
  #status = make("div", { role: "status" }, this.#message);
  #yours = make("div", { className: "check-yours" });
  /** @type {HTMLLIElement[]} */
  #options = [];

  get kind() {
    return /** @type {Kind} */ (this.getAttribute("kind"));
  }

  connectedCallback() {
    if (!this.#form.isConnected) this.#build();
    document.addEventListener("record-changed", this.#restore);
    this.#restore();
  }

  disconnectedCallback() {
    document.removeEventListener("record-changed", this.#restore);
  }

  get #answer() {
    return /** @type {HTMLDetailsElement} */ (this.querySelector(".check-answer"));
  }

  #build() {
    this.#answer.before(this.#form, this.#yours, this.#status);
    this.#fields.append(this.#control());
    this.#form.append(this.#fields);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#onCommit();
    });
  }

  /** What the learner predicts with; the list of choices or lines is the one on the page.
   * @returns {Element} */
  #control() {
    const list = this.querySelector(":scope > .check-choices, :scope > .check-code");
    if (!list) return this.#textControl();
    this.#options = [...list.querySelectorAll("li")];
    this.#options.forEach((option, index) => {
      if (option.matches(".check-blank")) return;
      const radio = make("input", { type: "radio", name: this.id, value: String(index + 1) });
      option.append(make("label", {}, radio, " ", make("span", {}, ...option.childNodes)));
    });
    return list;
  }

  /** @returns {Element} */
  #textControl() {
    if (this.kind === "number") {
      const input = make("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
      const unit = make("span", { textContent: this.getAttribute("unit") ?? "as a number" });
      return make("label", { className: "check-number" }, input, " ", unit);
    }
    const hint = make("span", { textContent: "In a sentence or two" });
    return make("label", { className: "check-sentence" }, hint, make("textarea", { rows: 3 }));
  }

  /** @returns {(HTMLInputElement | HTMLTextAreaElement)[]} */
  get #inputs() {
    return [...this.#fields.querySelectorAll(/** @type {"input"} */ ("input, textarea"))];
  }

  #onCommit() {
    const input = this.#options.length
      ? this.#inputs.find((radio) => "checked" in radio && radio.checked)
      : this.#inputs[0];
    const read = readPrediction(this.kind, input?.value ?? "");
    if ("problem" in read) {
      this.#message.textContent = read.problem;
      this.#inputs[0]?.focus();
      return;
    }
    const { value } = read;
    const option = this.#options[Number(value) - 1];
    const text = option ? words(option) : String(value);
    const prediction = { kind: this.kind, value, text, at: new Date().toISOString() };
    this.#keep(prediction);
    this.#showCommitted(prediction);
    /** @type {HTMLElement} */ (this.#yours.firstElementChild).focus();
    const detail = { id: this.id, kind: this.kind, value, right: this.#judge(value) };
    this.dispatchEvent(new CustomEvent("check-committed", { bubbles: true, detail }));
  }

  /** @param {Prediction | null} prediction */
  #keep(prediction) {
    const { store, lasting } = browserRecord();
    const saved = saveEntry(store, CHECKS, this.id, prediction);
    const kept = lasting && saved;
    this.#message.textContent =
      kept || saidNotKept
        ? ""
        : "Your browser keeps nothing for this site, so your predictions last until you close this page.";
    saidNotKept ||= !kept;
    if (saved) document.dispatchEvent(new Event("record-changed"));
  }

  /** @param {number | string} value */
  #judge(value) {
    const tolerance = Number(this.getAttribute("tolerance") ?? 0);
    return isRight(this.kind, value, Number(this.getAttribute("right")), tolerance);
  }

  /** Show what the record holds: it may have changed on another page, or by an import. */
  #restore = () => {
    const kept = /** @type {Partial<Prediction> | undefined} */ (
      readEntries(browserRecord().store, CHECKS)[this.id]
    );
    const state = kept && this.#fits(kept) ? "committed" : "asking";
    if (state === this.dataset.state && this.dataset.at === (kept?.at ?? "")) return;
    if (state === "committed") this.#showCommitted(/** @type {Prediction} */ (kept));
    else this.#showAsking();
  };

  /** Whether a kept prediction still is about this question. @param {Partial<Prediction>} kept */
  #fits(kept) {
    if (kept.kind !== this.kind) return false;
    if (!this.#options.length) return true;
    const option = this.#options[Number(kept.value) - 1];
    return option !== undefined && words(option) === kept.text;
  }

  /** What the record says of this check, for those that sum up.
   * @returns {import("./prediction.js").Outcome} */
  get outcome() {
    const kept = /** @type {Partial<Prediction> & {had?: boolean} | undefined} */ (
      readEntries(browserRecord().store, CHECKS)[this.id]
    );
    if (!kept || !this.#fits(kept)) return "open";
    const right = this.#judge(/** @type {number | string} */ (kept.value)) ?? kept.had;
    return right === undefined ? "unjudged" : right ? "agreed" : "missed";
  }

  #showAsking() {
    this.#enter("asking", "");
    this.#form.reset();
    this.#yours.replaceChildren();
    this.#answer.open = false;
    this.#summary("Show the answer without predicting");
  }

  /** @param {Prediction} prediction */
  #showCommitted(prediction) {
    const right = this.#judge(prediction.value);
    const number = this.getAttribute("right") ?? "";
    this.#enter("committed", prediction.at);
    this.#mark(Number(prediction.value), Number(number));
    const list = make("dl", {}, pair("You predicted", this.#inWords(prediction.value)));
    if (right !== null) list.append(pair("The answer", this.#inWords(number)));
    const again = make("button", { type: "button", className: "md-button check-again" }, "Predict again");
    again.addEventListener("click", () => this.#predictAgain());
    const className = right === null ? "check-compare" : "check-verdict";
    const exact = Number(prediction.value) === Number(number);
    const first = make("p", { className, tabIndex: -1 }, verdict(right, exact || this.#options.length > 0));
    if (right === null) delete this.#yours.dataset.verdict;
    else this.#yours.dataset.verdict = right ? "right" : "different";
    this.#yours.replaceChildren(first, list, again);
    this.#summary("Answer");
    this.#answer.open = true;
  }

  /** @param {"asking" | "committed"} state @param {string} at */
  #enter(state, at) {
    Object.assign(this.dataset, { state, at });
    const committed = state === "committed";
    this.#fields.disabled = committed;
    if (committed) this.#commit.remove();
    else this.#form.append(this.#commit);
    this.#form.hidden = committed && !this.#options.length;
    this.#yours.hidden = !committed;
    this.#mark(0, 0);
  }

  /** @param {number} chosen @param {number} right */
  #mark(chosen, right) {
    this.#options.forEach((option, index) => {
      option.classList.toggle("check-chosen", index + 1 === chosen);
      option.classList.toggle("check-right", index + 1 === right);
      const radio = option.querySelector("input");
      if (radio && chosen) radio.checked = index + 1 === chosen;
    });
  }

  /** @param {number | string} value @returns {(Node | string)[]} */
  #inWords(value) {
    const option = this.#options[Number(value) - 1];
    if (!option) return [[value, this.getAttribute("unit") ?? ""].join(" ").trim()];
    if (this.kind === "line") return [`Line ${value}: `, make("code", {}, option.textContent?.trim() ?? "")];
    return [...(option.querySelector("span")?.cloneNode(true).childNodes ?? [])];
  }

  /** @param {string} text */
  #summary(text) {
    /** @type {HTMLElement} */ (this.#answer.querySelector("summary")).textContent = text;
  }

  #predictAgain() {
    this.#keep(null);
    this.#showAsking();
    this.#inputs[0]?.focus();
  }
}

/** @param {Element} element */
const words = (element) => (element.textContent ?? "").trim().replace(/\s+/g, " ");

/** @param {string} term @param {(Node | string)[]} description */
const pair = (term, description) =>
  make("div", {}, make("dt", {}, term), make("dd", {}, ...description));
