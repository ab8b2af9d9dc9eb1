// <lesson-check kind right [tolerance] [unit]>: asks for a prediction before it opens the answer.
//
// It improves on HTML that says everything: the question, what to choose from, and a <details> with
// the answer. It sends `check-committed` when a prediction is made. With `stays` a prediction stays,
// and with `waits` it is not judged before an element of the page takes that attribute away.

import { isRight, readPrediction, repliesTo, verdict } from "./prediction.js";
import { CHECKS, answersShown, browserRecord, make, part, readEntries, saveEntry, showAnswers } from "./record.js";

/** @typedef {import("./prediction.js").Kind} Kind */
/** @typedef {{kind: Kind, value: number | string, text: string, at: string, ticks?: string, had?: boolean}} Prediction */

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
  #shown = false;
  #always = make("button", { type: "button", className: "check-always" });
  /** @type {HTMLLIElement[]} */
  #options = [];
  /** What is answered in several parts. @type {import("./check-place.js").Places | import("./check-match.js").Matches | undefined} */
  #parts;

  get kind() {
    return /** @type {Kind} */ (this.getAttribute("kind"));
  }

  static observedAttributes = ["waits"];

  attributeChangedCallback() {
    if (this.#kept && this.dataset.state) this.#showCommitted(this.#kept);
  }

  async connectedCallback() {
    if (!this.#form.isConnected) await this.#build();
    if (!this.isConnected) return;
    document.addEventListener("record-changed", this.#restore);
    addEventListener("storage", this.#onStorage);
    this.#restore();
  }

  disconnectedCallback() {
    document.removeEventListener("record-changed", this.#restore);
    removeEventListener("storage", this.#onStorage);
  }

  /** Another window may have changed the record. @param {StorageEvent} event */
  #onStorage = ({ key }) => (key === CHECKS || key === null) && this.#restore();

  get #answer() {
    return part(this, ".check-answer", HTMLDetailsElement);
  }

  /** What waits for this check elsewhere on the page. */
  get #after() {
    const found = document.querySelectorAll(`details[data-check="${this.id}"]`);
    return /** @type {HTMLDetailsElement[]} */ ([...found]);
  }

  async #build() {
    const control = await this.#control();
    this.#answer.before(this.#form, this.#yours, this.#status);
    this.#answer.after(this.#always);
    this.#fields.append(...control);
    this.#form.append(this.#fields);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#onCommit();
    });
    this.#answer.addEventListener("toggle", () => this.#offerAll());
    this.#always.addEventListener("click", () => {
      showAnswers(!answersShown());
      part(this, "summary", HTMLElement).focus();
    });
    for (const tick of this.querySelectorAll(".check-ticks li")) {
      const box = make("input", { type: "checkbox" });
      tick.append(make("label", {}, box, " ", make("span", {}, ...tick.childNodes)));
      box.addEventListener("change", () => this.#onTick());
    }
  }

  /** What the learner predicts with; the list of choices or lines is the one on the page.
   * @returns {Promise<Element[]>} */
  async #control() {
    const list = this.querySelector(":scope > :is(.check-choices, .check-code, .check-match)");
    if (!list) return [this.#textControl()];
    const missing = this.querySelector(":scope > .check-missing");
    if (missing) {
      const { Places } = await import("./check-place.js");
      this.#parts = new Places(missing, list, this.id);
      return [missing, list];
    }
    if (this.kind === "match") {
      const { Matches } = await import("./check-match.js");
      this.#parts = new Matches(list, this.id);
      return [list];
    }
    this.#options = [...list.querySelectorAll("li")];
    this.#options.forEach((option, index) => {
      if (option.matches(".check-blank")) return;
      const radio = make("input", { type: "radio", name: this.id, value: String(index + 1) });
      option.append(make("label", {}, radio, " ", make("span", {}, ...option.childNodes)));
    });
    return [list];
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

  /** @returns {HTMLInputElement[]} a text area counts as one */
  get #inputs() {
    return [...this.#fields.querySelectorAll(/** @type {"input"} */ ("input, textarea"))];
  }

  #onCommit() {
    const input = this.#options.length ? this.#inputs.find(({ checked }) => checked) : this.#inputs[0];
    const read = readPrediction(this.kind, this.#parts ? this.#parts.value : (input?.value ?? ""), this.getAttribute("within"));
    if ("problem" in read) {
      this.#message.textContent = read.problem;
      this.#inputs[0]?.focus({ preventScroll: true }); // the message is below the button
      this.#message.scrollIntoView({ block: "nearest" });
      return;
    }
    const { value } = read;
    const option = this.#options[Number(value) - 1];
    const text = option ? words(option) : String(value);
    const right = this.#judge(value);
    /** @type {Prediction} */
    const prediction = { kind: this.kind, value, text, at: new Date().toISOString() };
    if (right !== null) prediction.had = right;
    this.#keep(prediction);
    this.#showCommitted(prediction);
    part(this.#yours, "p", HTMLElement).focus();
    const detail = { id: this.id, kind: this.kind, value, right };
    this.dispatchEvent(new CustomEvent("check-committed", { bubbles: true, detail }));
  }

  /** Which of the ticks are set belongs to the prediction, and says whether its writer had it. */
  #onTick() {
    const kept = this.#kept;
    if (!kept) return;
    const boxes = this.#ticks;
    const ticks = boxes.flatMap(({ checked }, index) => (checked ? [index] : [])).join(" ");
    this.#keep({ ...kept, ticks, had: boxes.every(({ checked }) => checked) });
  }

  /** @returns {HTMLInputElement[]} */
  get #ticks() {
    return [...this.querySelectorAll(/** @type {"input"} */ (".check-ticks input"))];
  }

  /** @returns {Prediction | undefined} */
  get #kept() {
    const kept = /** @type {Prediction | undefined} */ (
      /** @type {unknown} */ (readEntries(browserRecord().store, CHECKS)[this.id])
    );
    return kept && this.#fits(kept) ? kept : undefined;
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
    return isRight(this.kind, value, this.getAttribute("right") ?? "", tolerance);
  }

  /** Show what the record holds: it may have changed on another page, or by an import. */
  #restore = () => {
    const kept = this.#kept;
    const state = kept ? "committed" : "asking";
    if (state !== this.dataset.state || this.dataset.at !== (kept?.at ?? "")) {
      if (kept) this.#showCommitted(kept);
      else this.#showAsking();
    }
    // What somebody opened by hand stays as it is while other checks change the record.
    if (this.#shown !== this.#wanted) {
      this.#shown = this.#wanted;
      if (!kept) this.#open(this.#shown);
    }
    this.#offerAll();
  };

  /** Whether answers are open before anybody predicts. */
  get #wanted() {
    return this.hasAttribute("answered") || answersShown();
  }

  /** Whether a kept prediction still is about this question. @param {Prediction} kept */
  #fits(kept) {
    if (kept.kind !== this.kind) return false;
    if (this.#parts) return this.#parts.fits(String(kept.value));
    if (!this.#options.length) return true;
    const option = this.#options[Number(kept.value) - 1];
    return option !== undefined && ["", words(option)].includes(kept.text); // "": another part kept it
  }

  /** What the record says of this check, for those that sum up.
   * @returns {import("./prediction.js").Outcome} */
  get outcome() {
    const kept = this.#kept;
    if (!kept) return "open";
    const right = this.#judge(kept.value) ?? kept.had;
    return right === undefined ? "unjudged" : right ? "agreed" : "missed";
  }

  /** @param {boolean} open */
  #open(open) {
    for (const details of [this.#answer, ...this.#after]) details.open = open;
  }

  /** Anyone who opens an answer without predicting may want that everywhere. */
  #offerAll() {
    const shown = answersShown();
    this.#always.hidden = this.dataset.state === "committed" || !this.#answer.open || this.hasAttribute("answered");
    this.#always.textContent = shown ? "Cover the answers again" : "Show all answers, on every page";
  }

  #showAsking() {
    // A link may have opened what is covered before this element came.
    if (this.dataset.state) this.#open(this.#shown);
    this.#enter("asking", "");
    this.#form.reset();
    this.#parts?.set("");
    this.#yours.replaceChildren();
    this.#summary("Show the answer without predicting");
  }

  /** @param {Prediction} prediction */
  #showCommitted(prediction) {
    const { kind, value } = prediction;
    this.#enter("committed", prediction.at);
    if (this.hasAttribute("waits")) return this.#showWaiting(Number(value));
    const right = this.#judge(value);
    const number = this.getAttribute("right") ?? "";
    this.#mark(Number(value), Number(number));
    const exact = kind !== "number" || Number(value) === Number(number);
    const className = right === null ? "check-compare" : "check-verdict";
    const first = make("p", { className, tabIndex: -1 }, verdict(kind, right, exact));
    if (right === null) delete this.#yours.dataset.verdict;
    else this.#yours.dataset.verdict = right ? "right" : "different";
    const compared = this.#compared(prediction, number);
    const replies = this.#replies(value, right);
    this.#explain(first, replies.length ? replies : [part(this.#answer, ".check-answer-text", HTMLElement)]);
    this.#yours.replaceChildren(first, ...replies, ...compared, ...this.#again());
    this.#ticks.forEach((box, index) => (box.checked = (prediction.ticks ?? "").split(" ").includes(String(index))));
    this.#summary("Answer");
    this.#open(true);
  }

  /** Let the explanation be read with the verdict, which gets the focus.
   * @param {HTMLElement} said @param {HTMLElement[]} by */
  #explain(said, by) {
    by.forEach((each, index) => (each.id ||= `${this.id}-because-${index + 1}`));
    said.setAttribute("aria-describedby", by.map(({ id }) => id).join(" "));
  }

  /** A prediction that the page answers further down. @param {number} value */
  #showWaiting(value) {
    this.#mark(value, NaN);
    delete this.#yours.dataset.verdict;
    const says = make("p", { tabIndex: -1 }, "Your prediction is kept. The page answers it further down.");
    this.#yours.replaceChildren(says);
    this.#summary("Show the answer now");
    this.#open(this.#shown);
  }

  /** A way back to the question, unless a prediction is made once. */
  #again() {
    if (this.hasAttribute("stays")) return [];
    const again = make("button", { type: "button", className: "md-button check-again" }, "Predict again");
    again.addEventListener("click", () => this.#predictAgain());
    return [again];
  }

  /** The author's replies to what was chosen. @param {number | string} value @param {boolean | null} right */
  #replies(value, right) {
    /** @type {string[]} */
    let to = right ? [] : [String(Number(value))];
    if (this.#parts) {
      const fitting = this.#parts.judge(String(value), this.getAttribute("right") ?? "");
      this.#parts.set(String(value), fitting);
      to = fitting.flatMap((fits, index) => (fits ? [] : [String(index + 1)]));
    }
    const found = [...this.querySelectorAll(".check-others [data-to]")].filter((reply) =>
      to.some((each) => repliesTo(reply.getAttribute("data-to") ?? "", Number(each))),
    );
    return found.map((reply) => {
      const text = part(reply, "dd", HTMLElement).cloneNode(true).childNodes;
      const said = this.#parts ? [...part(reply, "dt", HTMLElement).cloneNode(true).childNodes, ": "] : [];
      return make("p", { className: "check-reply" }, ...said, ...text);
    });
  }

  /** What was typed beside what is right; choices and lines are marked where they are.
   * @param {Prediction} prediction @param {string} number */
  #compared({ kind, value }, number) {
    if (kind !== "number" && kind !== "sentence") return [];
    const unit = this.getAttribute("unit") ?? "";
    const list = make("dl", {}, pair("You predicted", `${value} ${kind === "number" ? unit : ""}`.trim()));
    if (kind === "number") list.append(pair("The answer", `${number} ${unit}`.trim()));
    return [list];
  }

  /** @param {"asking" | "committed"} state @param {string} at */
  #enter(state, at) {
    Object.assign(this.dataset, { state, at });
    const committed = state === "committed";
    this.#fields.disabled = committed;
    if (committed) this.#commit.remove();
    else this.#form.append(this.#commit);
    this.#form.hidden = committed && !this.#options.length && !this.#parts;
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

  /** @param {string} text */
  #summary(text) {
    part(this.#answer, "summary", HTMLElement).textContent = text;
  }

  #predictAgain() {
    this.#keep(null);
    this.#showAsking();
    this.#inputs[0]?.focus();
  }
}

/** @param {Element} element */
const words = (element) => (element.textContent ?? "").trim().replace(/\s+/g, " ");

/** @param {string} term @param {string} description */
const pair = (term, description) => make("div", {}, make("dt", {}, term), make("dd", {}, description));
