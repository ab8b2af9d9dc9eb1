// <race-gpu data-mb-jspi data-mb-asyncify data-recorded data-apart [data-most-batch]>: the lesson's
// training step on the reader's CPU and GPU, raced in the page at growing sizes.
//
// This is what is there before the first press, which brings the rest: show.js, and its style. A
// race that this browser keeps brings them at once. So all here wears the site's own style.
// data-most-batch keeps a test short.

import { CHECKS, MACHINE, browserRecord, readEntries, saveEntry } from "./record.js";

/** @typedef {import("./race/plan.js").Way} Way */
/** @typedef {import("./race/show.js").Show} Show */

/** @type {[Way, string][]} */
const WAYS = [
  ["lesson", "The lesson’s model, at five batch sizes"],
  ["all", "Four models from narrow to wide, each at five batch sizes"],
  ["products", "Matrix products alone, at six sizes"],
];
/** Batches, and 0 for none of them. @type {[batch: number, words: string][]} */
const GUESSES = [[16, "16"], [64, "64"], [256, "256"], [1024, "1,024"], [4096, "4,096"], [0, "never"]];
const GUESS = "race-guess"; // the name of the reader's guess in their record
const NO_GUESS = "You raced without a guess. Forget these points to guess afresh.";
const LEAD =
  "Your browser trains the lesson’s model: at each size first on your CPU, then on your GPU, never on both at once. " +
  "Nothing is loaded before you press the button, and nothing leaves your browser. Close what else keeps the machine busy.";
const ONE_THREAD = ["This page came without cross-origin isolation, so the CPU races with one thread. ", "make live", " serves it with more."];
const UNABLE = "This browser cannot race: it has no WebAssembly or no workers. The recorded times on this page need neither.";
const MISSING = "A part of the race did not come; reload the page and try again.";

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {object} properties @param {(Node | string)[]} children */
function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export class RaceGpu extends HTMLElement {
  start = made("button", { type: "button", className: "md-button md-button--primary" });
  status = made("p", { className: "race-status", role: "status" });
  threads = made("p", { className: "race-note run-note" });
  /** @type {Way} */
  way = "lesson";
  #ways = made("div", { className: "race-ways check-form", role: "radiogroup" });
  #guesses = made("fieldset", { className: "race-guesses" });
  #unguessed = made("p", { className: "run-note", hidden: true });
  #loading = false;
  /** A guess that the browser refused to keep. @type {number | null} */
  #unsaved = null;
  /** @type {Show | undefined} */
  #show;

  connectedCallback() {
    if (!this.start.isConnected) this.#build();
    this.#show?.connect();
    const kept = readEntries(browserRecord().store, MACHINE).race?.points;
    if (kept && !this.#show && this.start.isConnected) this.#wake((show) => show.restore());
  }

  disconnectedCallback() {
    this.#show?.disconnect();
  }

  #build() {
    if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
      this.replaceChildren(made("p", {}, UNABLE));
      return;
    }
    const [before = "", command = "", after = ""] = ONE_THREAD;
    if (!globalThis.crossOriginIsolated) this.threads.append(before, made("code", {}, command), after);
    this.#ways.setAttribute("aria-label", "What races");
    this.#ways.append(made("ul", { className: "check-choices" }, ...WAYS.map((way) => this.#choice(...way))));
    this.start.onclick = () => this.#onStart();
    this.start.textContent = `Start the race${this.#megabytes}`;
    this.dataset.state = "idle";
    const buttons = made("p", { className: "race-buttons" }, this.start);
    const legend = made("legend", {}, "From which batch size on does your GPU win?");
    this.#unguessed.textContent = NO_GUESS;
    this.#guesses.append(legend, ...GUESSES.map((guess) => this.#guessed(...guess)), this.#unguessed);
    const lead = made("p", { className: "race-text" }, LEAD);
    this.replaceChildren(this.#guesses, lead, this.#ways, buttons, this.status, this.threads);
  }

  /** @param {number} batch @param {string} words */
  #guessed(batch, words) {
    const input = made("input", { type: "radio", name: "race-guess", checked: this.guess === batch });
    input.onchange = () => this.#keepGuess(batch, words);
    return made("label", {}, input, " ", words);
  }

  /** The batch size that the reader named, 0 for never; null while they named none. @returns {number | null} */
  get guess() {
    const kept = readEntries(browserRecord().store, CHECKS)[GUESS];
    return this.#unsaved ?? /** @type {number | undefined} */ (kept?.value) ?? null;
  }

  /** @param {number} batch @param {string} words */
  #keepGuess(batch, words) {
    const entry = { kind: "choice", value: batch, text: words, at: new Date().toISOString() };
    this.#unsaved = saveEntry(browserRecord().store, CHECKS, GUESS, entry) ? null : batch;
  }

  /** @param {Way} way @param {string} words */
  #choice(way, words) {
    const input = made("input", { type: "radio", name: "race-way", value: way, checked: way === this.way });
    input.onchange = () => (this.way = way);
    return made("li", {}, made("label", {}, input, words));
  }

  /**
   * Let the reader choose what races, or not; a guess is one before there are points.
   * @param {boolean} may
   * @param {boolean} guessed
   * @param {boolean} raced whether there are points to forget
   */
  choosing(may, guessed, raced) {
    for (const input of this.#ways.querySelectorAll("input")) input.disabled = !may;
    this.#guesses.disabled = guessed;
    this.#unguessed.hidden = !raced || this.guess !== null;
  }

  /** What the first press loads; a site that was built without the engine cannot say. */
  get #megabytes() {
    const size = "Suspending" in WebAssembly ? this.dataset.mbJspi : this.dataset.mbAsyncify;
    return size ? ` (${size} MB)` : "";
  }

  #onStart() {
    return this.#wake((show) => show.press());
  }

  /** Do something with the rest, once it has come. @param {(show: Show) => void} then */
  async #wake(then) {
    if (this.#loading) return;
    this.#loading = true;
    try {
      if (!this.#show) {
        this.status.textContent = "Loading what the race runs on …";
        const { Show } = await import("./race/show.js");
        this.#show = new Show(this);
        if (this.isConnected) this.#show.connect();
        await this.#show.dressed;
      }
      if (this.isConnected) then(this.#show);
    } catch {
      this.status.textContent = MISSING;
      this.dataset.state = "failed";
    }
    this.#loading = false;
  }
}
