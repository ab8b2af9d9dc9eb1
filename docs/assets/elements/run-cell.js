// <run-cell>: what a figure of runnable code has below its code: a button, and once it is pressed,
// the code to change, what runs after it, and the output.
//
// lesson.js puts it there with its first button; this module comes with the first press. All cells
// of a page share one worker.

import { CodeBox, loadColours } from "./run/code-box.js";
import { Runner } from "./run/runner.js";
import { EDITS, ROOT, browserRecord, readEntries, saveEntry } from "./record.js";

const runner = new Runner();
const REST_MS = 50; // how long output waits for more of it, so that a page is not drawn for each word
const NOTEBOOK = new URL("notebooks/#open", ROOT).href;

/** @param {string} tag @param {object} properties */
const made = (tag, properties) => Object.assign(document.createElement(tag), properties);

/** What the lesson has: the shown code, and what runs after it. @param {HTMLElement} figure @returns {[string, string]} */
export function originalOf(figure) {
  return [figure.querySelector("pre > code")?.textContent?.trimEnd() ?? "", figure.dataset.run ?? ""];
}

/**
 * What the worker is given.
 * @param {HTMLElement} figure
 * @param {[string, string]} texts the snippet and the lines after it
 * @returns {import("./run/runner.js").Job}
 */
export function jobOf(figure, [snippet, lines]) {
  const { runOf = "", runLines = "", runFiles = "{}" } = figure.dataset;
  const [first = 1, last = 1] = runLines.split("-").map(Number);
  const [file = ""] = runOf.split(":");
  return { file, first, last, snippet, lines, files: JSON.parse(runFiles) };
}

export class RunCell extends HTMLElement {
  #snippet = new CodeBox("The snippet, in its module");
  #lines = new CodeBox("What runs after it");
  #code = made("div", { className: "run-code" });
  #progress = /** @type {HTMLProgressElement} */ (made("progress", { hidden: true, max: 1 }));
  #status = made("p", { className: "run-status" });
  #output = made("pre", { className: "run-output" });
  #reset = this.#button("Reset", () => this.#onReset());
  /** What is shown as long as nothing is changed. @type {[string, string]} */
  #original = ["", ""];
  #waiting = "";
  #opened = false;
  #running = false;

  connectedCallback() {
    this.#first.textContent = "Run";
  }

  disconnectedCallback() {
    if (this.#running) runner.stop();
  }

  get #figure() {
    return /** @type {HTMLElement} */ (this.closest("figure"));
  }

  get #first() {
    return /** @type {HTMLButtonElement} */ (this.querySelector("button"));
  }

  /** @param {string} text @param {() => void} onClick */
  #button(text, onClick) {
    const button = made("button", { type: "button", className: "chart-switch", textContent: text });
    button.addEventListener("click", onClick);
    return button;
  }

  /**
   * The first button was pressed: run, or stop. A change that was kept is only shown at first, since it
   * may have come with a record that somebody else wrote; the second half of a double click runs none.
   * @param {number} [clicks] how many in quick succession this is the last of
   */
  press(clicks = 1) {
    const kept = this.#opened ? this.dataset.state === "kept" && clicks > 1 : this.#open();
    if (this.#running) runner.stop();
    else if (!kept) this.#run();
  }

  /** Show the editors; whether a change of the reader's is in them now. */
  #open() {
    this.#opened = true;
    this.#original = originalOf(this.#figure);
    this.#output.setAttribute("role", "log");
    this.#output.setAttribute("aria-label", "Output");
    this.#status.setAttribute("role", "status");
    this.#progress.setAttribute("aria-label", "Loading Python");
    const buttons = made("p", { className: "run-buttons" });
    const licence = made("a", { href: new URL("assets/licences/pyodide.txt", ROOT).href, textContent: "Pyodide" });
    const colours = made("a", { href: new URL("assets/licences/prism-code-editor.txt", ROOT).href, textContent: "Prism" });
    const note = made("p", { className: "run-note" });
    note.append("Ctrl+Enter runs too. Python comes from ", licence, ", its colours from ", colours);
    note.append("; both run in your browser, and your changes stay there.");
    this.#code.append(this.#snippet.element, this.#lines.element);
    this.#code.addEventListener("input", () => this.#keep());
    this.#code.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (!this.#running) this.#run();
    });
    const kept = readEntries(browserRecord().store, EDITS)[this.#name];
    this.#show(kept ? [String(kept.text), String(kept.lines)] : this.#original);
    const changed = kept !== undefined && !this.#isOriginal();
    buttons.append(this.#first, " ", this.#reset);
    this.append(this.#code, buttons, this.#status, this.#progress, this.#output, note);
    this.#figure.classList.add("opened");
    this.#colour();
    this.#first.focus();
    if (changed) {
      const day = new Date(kept.at).toLocaleDateString("en-GB", { dateStyle: "long" });
      this.dataset.state = "kept";
      this.#say(`This is your change of ${day}. Read it, then press Run; Reset brings the lesson’s text back.`);
    }
    return changed;
  }

  /** Give both texts their colours; where these do not come, they stay as they are. */
  async #colour() {
    try {
      const createEditor = await loadColours(this);
      for (const box of [this.#snippet, this.#lines]) box.colour(createEditor);
    } catch {
      this.dataset.plain = "";
    }
  }

  get #name() {
    return this.#figure.dataset.runOf ?? "";
  }

  /** @returns {[string, string]} */
  get #texts() {
    return [this.#snippet.text, this.#lines.text];
  }

  /** @param {[string, string]} texts */
  #show([snippet, lines]) {
    this.#snippet.text = snippet;
    this.#lines.text = lines;
  }

  #isOriginal() {
    return this.#texts.every((text, index) => text === this.#original[index]);
  }

  #keep() {
    const [text, lines] = this.#texts;
    const entry = this.#isOriginal() ? null : { text, lines, at: new Date().toISOString() };
    const { store, lasting } = browserRecord();
    const kept = saveEntry(store, EDITS, this.#name, entry) && lasting;
    if (!kept && entry) this.#say("Your browser keeps nothing for this site, so the change is gone when you leave.");
  }

  #onReset() {
    if (this.#running) runner.stop();
    this.#show(this.#original);
    this.#keep();
    this.#clear();
    delete this.dataset.state;
    this.#say("The snippet is as the lesson has it.");
  }

  /** @param {string} sentence */
  #say(sentence) {
    this.#status.textContent = sentence;
  }

  /** What to do about a package that Python lacks here. @param {string} name */
  #sayMissing(name) {
    const link = made("a", { href: NOTEBOOK, textContent: "the notebook" });
    this.#status.replaceChildren(
      "There is no ",
      made("code", { textContent: name }),
      " in this page: its Python has the standard library and the lesson’s own modules. PyTorch runs in ",
      link,
      ", in Colab or on your machine, where ",
      made("code", { textContent: "make live" }),
      " runs its cells from these pages.",
    );
  }

  #clear() {
    this.#waiting = "";
    this.#output.replaceChildren();
    this.#output.removeAttribute("tabindex");
  }

  /** Take output in; the page shows it in a moment. @param {string} text */
  #take(text) {
    if (!this.#waiting) setTimeout(() => this.#flush(), REST_MS);
    this.#waiting += text;
  }

  #flush() {
    if (!this.#waiting) return;
    this.#output.tabIndex = 0; // so that the keyboard can scroll it
    this.#output.append(this.#waiting);
    this.#waiting = "";
    this.#output.scrollTop = this.#output.scrollHeight;
  }

  async #run() {
    if (runner.busy) return this.#say("Another snippet on this page is running; stop it first.");
    this.#clear();
    this.#enter(true);
    if (runner.loaded) this.#say("Running …");
    const { end, sentence } = await runner.run(jobOf(this.#figure, this.#texts), {
      onLoading: (share) => this.#onLoading(share),
      onStart: () => {
        this.#progress.hidden = true;
        this.#say("Running …");
      },
      onOutput: (text) => this.#take(text),
    });
    this.#flush();
    this.#progress.hidden = true;
    this.#enter(false);
    this.dataset.state = end;
    if (end === "missing") this.#sayMissing(sentence);
    else this.#say(sentence);
  }

  /** Python is on its way, or there and starting. @param {number} share of its bytes */
  #onLoading(share) {
    const size = Math.max(1, Math.round(Number(this.#figure.dataset.runKb) / 1000));
    const words = share < 1 ? `Loading Python (${size} MB, once) …` : "Starting Python …";
    if (this.#status.textContent !== words) this.#say(words);
    this.#progress.hidden = false;
    if (share < 1) this.#progress.value = share;
    else this.#progress.removeAttribute("value"); // how long it starts is not known
  }

  /** @param {boolean} running */
  #enter(running) {
    this.#running = running;
    if (running) this.dataset.state = "running";
    this.#first.textContent = running ? "Stop" : "Run";
  }
}
