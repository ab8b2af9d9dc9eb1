// <run-on-machine>: runs what a page shows on the machine that serves it: what printed a recorded
// output, a cell of the notebook, or the checks of the lab on the learner's own file.
//
// Only the live server's pages load this module. It puts the element behind each of these places.

import { KernelError, kernel } from "./live/kernel.js";
import { programOf, stepsLeft } from "./live/programs.js";
import { ROOT } from "./record.js";

/** @typedef {import("./live/programs.js").Action} Action */
/** @typedef {import("./live/programs.js").Step} Step */

const OUTPUT_LIMIT = 100_000; // characters; a page with more of them is of no use
const TAG = "run-on-machine";
const BUSY = "Something else is running. Wait for its end, or interrupt it.";
const PATHS = "gpu-training.live."; // of what the tab keeps
const RUNS = document.querySelector('meta[name="lesson-runs"]')?.getAttribute("content") ?? "runs";

/** @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {Partial<HTMLElementTagNameMap[T]>} properties @param {(Node | string)[]} children */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** @param {string} text @param {() => void} onClick */
function button(text, onClick) {
  const made = make("button", { type: "button", className: "md-button", textContent: text });
  made.addEventListener("click", onClick);
  return made;
}

/** A notebook of the site. @param {string} path */
async function readNotebook(path) {
  const answer = await fetch(new URL(path, ROOT)).catch(() => undefined);
  if (!answer?.ok) throw new KernelError(`${path} did not come; start \`make live\` again, and open the address that it prints.`);
  return answer.json();
}

/** @param {string} target */
const programAt = (target) => programOf(target, { runs: RUNS, read: readNotebook });

/** The code that the reader has agreed to, here or elsewhere on these pages. @type {Set<string>} */
const accepted = new Set();
/** @type {RunOnMachine | undefined} */
let running;

export class RunOnMachine extends HTMLElement {
  #left = OUTPUT_LIMIT;
  /** @type {import("./live/programs.js").Program} */
  #program = { actions: [] };
  /** All that belongs to what was pressed, though some of it may have run. @type {Step[]} */
  #steps = [];
  /** The code in the question. @type {string[]} */
  #asked = [];
  /** The button that was pressed. @type {HTMLButtonElement | undefined} */
  #pressed;
  /** @type {HTMLButtonElement[]} */
  #buttons = [];
  #interrupt = button("Interrupt", () => this.#try(() => kernel.interrupt()));
  #restart = button("Restart kernel", () => this.#restarted());
  #accept = button("Run it", () => this.#accepts());
  #refuse = button("Not now", () => this.#closeQuestion());
  #where = make("p");
  #code = make("code", { tabIndex: 0 });
  #question = make("div", { className: "run-question", hidden: true });
  #path = Object.assign(document.createElement("input"), { type: "text", spellcheck: false, autocomplete: "off" });
  #output = make("code", { tabIndex: 0 });
  #shown = make("pre", { hidden: true }, this.#output);
  #drawn = make("p", { hidden: true });
  #status = make("p", { className: "run-status" });

  connectedCallback() {
    if (this.childElementCount) return;
    this.#program = programAt(this.getAttribute("target") ?? "") ?? this.#program;
    const { actions, file = "", asks } = this.#program;
    this.#buttons = actions.map((action) => {
      const made = button(action.label, () => this.#onPress(action, made));
      made.setAttribute("aria-label", `${action.label}: ${action.name}`);
      return made;
    });
    this.#path.value = this.#file;
    this.#path.addEventListener("input", () => sessionStorage.setItem(PATHS + file, this.#path.value.trim()));
    this.#output.setAttribute("role", "group");
    this.#output.setAttribute("aria-label", "What this machine printed");
    this.#interrupt.hidden = this.#restart.hidden = true;
    const code = make("pre", {}, this.#code);
    const buttons = make("p", { className: "run-buttons" }, this.#accept, " ", this.#refuse);
    this.#question.append(make("p", { textContent: "These lines run on this computer, with your rights:" }), code, this.#where, buttons);
    const main = make("p", { className: "run-buttons" });
    for (const each of [...this.#buttons, this.#interrupt, this.#restart]) main.append(each, " ");
    const name = make("span", { textContent: "Your file, to open in your editor" });
    if (asks) this.append(make("label", {}, name, this.#path));
    const status = make("div", { role: "status" }, this.#status);
    this.append(main, this.#question, this.#shown, this.#drawn, status);
  }

  disconnectedCallback() {
    if (running === this) kernel.interrupt().catch(() => undefined);
  }

  /** The path of the learner's file; a page has one field for it, and the tab keeps what it says. */
  get #file() {
    const { file = "" } = this.#program;
    return sessionStorage.getItem(PATHS + file) ?? file;
  }

  /** Ask before code runs that the reader has not agreed to. @param {Action} action @param {HTMLButtonElement} pressed */
  async #onPress(action, pressed) {
    if (pressed.ariaDisabled) return;
    this.#pressed = pressed;
    await this.#try(async () => {
      this.#steps = await action.steps(this.#file);
      this.#goOrAsk();
    });
  }

  #goOrAsk() {
    if (running) return this.#say(BUSY);
    const left = stepsLeft(this.#steps, kernel.ran);
    if (left.some(({ code }) => !accepted.has(code))) this.#openQuestion(left);
    else this.#go(left);
  }

  /** @param {Step[]} steps */
  #openQuestion(steps) {
    const earlier = steps.length > 1 ? "Cells above this one that have not run yet run first, in order. " : "";
    const device = kernel.device ?? "the GPU if PyTorch finds one, or else the processor; its name is under the output";
    this.#asked = steps.map(({ code }) => code);
    this.#code.textContent = this.#asked.join("\n\n");
    this.#where.textContent = `${earlier}Device: ${device}.`;
    this.#question.hidden = false;
    this.#accept.focus();
  }

  #closeQuestion() {
    this.#question.hidden = true;
    this.#pressed?.focus();
  }

  #accepts() {
    for (const code of this.#asked) accepted.add(code);
    this.#closeQuestion();
    this.#goOrAsk(); // a restart meanwhile may have left more to run
  }

  /** @param {Step[]} steps */
  async #go(steps) {
    running = this;
    this.#busy(true);
    this.#clear();
    this.#say(kernel.started ? "Running …" : "Starting Python and PyTorch …");
    try {
      await kernel.start();
      const { outcome, seconds } = await this.#runSteps(steps);
      const how = { ok: "Printed", error: "Failed", interrupted: "Interrupted" }[outcome];
      this.#say(`${how} on ${kernel.device}, after ${seconds.toPrecision(2)} s.`, outcome);
      if (outcome === "ok") this.#report();
    } catch (problem) {
      this.#told(problem);
    } finally {
      running = undefined;
      this.#busy(false);
    }
  }

  /** One after the other, until one does not end well; what the last of them says stays. @param {Step[]} steps */
  async #runSteps(steps) {
    let seconds = 0;
    for (const [index, { code, once }] of steps.entries()) {
      const which = steps.length > 1 ? `${index + 1} of ${steps.length} ` : "";
      this.#say(`Running ${which}…`);
      this.#clear();
      const listener = { text: (/** @type {string} */ text) => this.#print(text), image: (/** @type {string} */ png) => this.#draw(png) };
      const done = await kernel.run(code, listener);
      seconds += done.seconds;
      if (done.outcome !== "ok") return { outcome: done.outcome, seconds };
      if (once) kernel.ran.add(once);
    }
    return { outcome: /** @type {const} */ ("ok"), seconds };
  }

  /** Where the page keeps a report of the learner's own, it gets this one. */
  #report() {
    const place = this.previousElementSibling;
    const text = place?.localName === "own-report" ? place.querySelector("textarea") : null;
    if (!text) return;
    text.value = (this.#output.textContent ?? "").slice(0, text.maxLength);
    text.dispatchEvent(new Event("input"));
  }

  async #restarted() {
    this.#say("Restarting Python …");
    await this.#try(async () => {
      await kernel.restart();
      this.#say("Python was restarted; what it had computed is gone.");
    });
  }

  /** @param {() => Promise<void>} what */
  async #try(what) {
    try {
      await what();
    } catch (problem) {
      this.#told(problem);
    }
  }

  /** @param {unknown} problem */
  #told(problem) {
    this.#say(problem instanceof KernelError ? problem.message : `The page failed: ${problem}`, "error");
  }

  /** @param {boolean} busy */
  #busy(busy) {
    for (const each of this.#buttons) each.ariaDisabled = busy ? "true" : null;
    if (!busy && this.#interrupt === document.activeElement) this.#pressed?.focus();
    this.#interrupt.hidden = !busy;
    this.#restart.hidden = false;
  }

  #clear() {
    this.#output.textContent = "";
    this.#left = OUTPUT_LIMIT;
    this.#drawn.replaceChildren();
    this.#shown.hidden = this.#drawn.hidden = true;
  }

  /** @param {string} text */
  #print(text) {
    this.#shown.hidden = false;
    if (this.#left <= 0) return;
    this.#output.append(text.slice(0, this.#left));
    this.#left -= text.length;
    if (this.#left <= 0) this.#output.append(`\n… and more: only ${OUTPUT_LIMIT.toLocaleString("en")} characters are shown.`);
  }

  /** @param {string} png in base64 */
  #draw(png) {
    const alt = this.previousElementSibling?.querySelector("img")?.alt ?? "What this cell drew";
    this.#drawn.append(make("img", { src: `data:image/png;base64,${png}`, alt }));
    this.#drawn.hidden = false;
  }

  /** @param {string} text @param {string} outcome */
  #say(text, outcome = "") {
    this.#status.textContent = text;
    this.dataset.outcome = outcome;
  }
}

/** Put the element behind each place of the page that can be run. */
function addElements() {
  for (const place of document.querySelectorAll("[data-runs]")) {
    const target = place.getAttribute("data-runs") ?? "";
    if (!programAt(target) || place.nextElementSibling?.localName === TAG) continue;
    const element = document.createElement(TAG);
    element.setAttribute("target", target);
    place.after(element);
  }
}

if (!customElements.get(TAG)) customElements.define(TAG, RunOnMachine);
addEventListener("pagehide", () => kernel.end());

// Material calls this on the first page and after each instant navigation.
const pages = /** @type {{document$?: {subscribe(next: () => void): void}}} */ (globalThis).document$;
if (pages) pages.subscribe(addElements);
else addElements();
