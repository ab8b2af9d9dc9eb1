// <run-on-machine>: runs what printed a recorded output, on the machine that serves the page.
//
// Only the live server's pages load this module. It puts the element behind each recorded output.

import { KernelError, kernel } from "./live/kernel.js";
import { codeOf } from "./live/wire.js";

const OUTPUT_LIMIT = 100_000; // characters; a page with more of them is of no use
const TAG = "run-on-machine";

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

/** @type {RunOnMachine | undefined} */
let running;

export class RunOnMachine extends HTMLElement {
  #code = "";
  #accepted = false;
  #left = OUTPUT_LIMIT;
  #run = button("Run on this machine", () => this.#pressed());
  #interrupt = button("Interrupt", () => this.#try(() => kernel.interrupt()));
  #restart = button("Restart kernel", () => this.#restarted());
  #accept = button("Run it", () => this.#accepts());
  #refuse = button("Not now", () => this.#closeQuestion());
  #where = make("p");
  #question = make("div", { className: "run-question", hidden: true });
  #output = make("code", { tabIndex: 0 });
  #shown = make("pre", { hidden: true }, this.#output);
  #status = make("p", { className: "run-status" });

  connectedCallback() {
    if (this.childElementCount) return;
    const target = this.getAttribute("target") ?? "";
    this.#code = codeOf(target) ?? "";
    this.#run.setAttribute("aria-label", `Run on this machine: ${target.split(":")[1]}`);
    this.#output.setAttribute("role", "group");
    this.#output.setAttribute("aria-label", "What this machine printed");
    this.#interrupt.hidden = this.#restart.hidden = true;
    const code = make("pre", {}, make("code", { tabIndex: 0, textContent: this.#code }));
    const buttons = make("p", { className: "run-buttons" }, this.#accept, " ", this.#refuse);
    this.#question.append(make("p", { textContent: "These lines run on this computer, with your rights:" }), code, this.#where, buttons);
    const status = make("div", { role: "status" }, this.#status);
    const main = make("p", { className: "run-buttons" }, this.#run, " ", this.#interrupt, " ", this.#restart);
    this.append(main, this.#question, this.#shown, status);
  }

  disconnectedCallback() {
    if (running === this) kernel.interrupt().catch(() => undefined);
  }

  /** Ask before the first run; the code of the later ones is known. */
  #pressed() {
    if (this.#run.ariaDisabled) return;
    if (running) this.#say("Another output is being printed. Wait for its end, or interrupt it.");
    else if (this.#accepted) this.#go();
    else this.#openQuestion();
  }

  #openQuestion() {
    this.#where.textContent = kernel.device
      ? `Device: ${kernel.device}.`
      : "Device: the GPU if PyTorch finds one, or else the processor; its name stands under the output.";
    this.#question.hidden = false;
    this.#accept.focus();
  }

  #closeQuestion() {
    this.#question.hidden = true;
    this.#run.focus();
  }

  #accepts() {
    this.#accepted = true;
    this.#closeQuestion();
    this.#go();
  }

  async #go() {
    running = this;
    this.#busy(true);
    this.#output.textContent = "";
    this.#left = OUTPUT_LIMIT;
    this.#shown.hidden = true;
    this.#say(kernel.started ? "Running …" : "Starting Python and PyTorch …");
    try {
      await kernel.start();
      this.#say("Running …");
      const { outcome, seconds } = await kernel.run(this.#code, (text) => this.#print(text));
      const how = { ok: "Printed", error: "Failed", interrupted: "Interrupted" }[outcome];
      this.#say(`${how} on ${kernel.device}, after ${seconds.toPrecision(2)} s.`, outcome);
    } catch (problem) {
      this.#say(problem instanceof KernelError ? problem.message : `The page failed: ${problem}`, "error");
    } finally {
      running = undefined;
      this.#busy(false);
    }
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
      this.#say(problem instanceof KernelError ? problem.message : `The page failed: ${problem}`, "error");
    }
  }

  /** @param {boolean} busy */
  #busy(busy) {
    this.#run.ariaDisabled = busy ? "true" : null;
    if (!busy && this.#interrupt === document.activeElement) this.#run.focus();
    this.#interrupt.hidden = !busy;
    this.#restart.hidden = false;
  }

  /** @param {string} text */
  #print(text) {
    this.#shown.hidden = false;
    if (this.#left <= 0) return;
    this.#output.append(text.slice(0, this.#left));
    this.#left -= text.length;
    if (this.#left <= 0) this.#output.append(`\n… and more: only ${OUTPUT_LIMIT.toLocaleString("en")} characters are shown.`);
  }

  /** @param {string} text @param {string} outcome */
  #say(text, outcome = "") {
    this.#status.textContent = text;
    this.dataset.outcome = outcome;
  }
}

/** Put the element behind each recorded output of the page. */
function addElements() {
  for (const figure of document.querySelectorAll("figure[data-runs]")) {
    const target = figure.getAttribute("data-runs") ?? "";
    if (!codeOf(target) || figure.nextElementSibling?.localName === TAG) continue;
    const element = document.createElement(TAG);
    element.setAttribute("target", target);
    figure.after(element);
  }
}

if (!customElements.get(TAG)) customElements.define(TAG, RunOnMachine);
addEventListener("pagehide", () => kernel.end());

// Material calls this on the first page and after each instant navigation.
const pages = /** @type {{document$?: {subscribe(next: () => void): void}}} */ (globalThis).document$;
if (pages) pages.subscribe(addElements);
else addElements();
