// <who-first data-trainings data-race>: guess which device finishes a training first, then watch.
//
// It improves on a closed table with all results. The CPU's lane ends at its time, the GPU's in a
// window from its earliest to its latest. Anyone who asks for less motion sees the end at once.

import { GUESSES, pace, verdict, winner } from "./lanes.js";
import { chosenCard, make } from "./record.js";

/** @typedef {[low: number, high: number, told: string]} Window */
/** @typedef {{name: string, cpu: [number, string], gpu: {[card: string]: Window}, why: {[who: string]: string}}} Training */

const SHOWN_S = 3;

export class WhoFirst extends HTMLElement {
  /** @type {{cards: {[id: string]: string}, trainings: Training[]}} */
  #data = { cards: {}, trainings: [] };
  #lanes = make("div", { className: "lanes" });
  #says = make("p", { className: "lanes-says" });
  #form = make("form", { className: "lanes-form" });

  connectedCallback() {
    if (this.#form.isConnected) return;
    this.#data = JSON.parse(this.dataset.trainings ?? "{}");
    const trainings = this.#radios("The training", "training", this.#data.trainings.map(({ name }) => name));
    const guesses = this.#radios("Who finishes first?", "guess", GUESSES.map(({ text }) => text));
    const start = make("button", { className: "md-button md-button--primary" }, "Start");
    this.#form.append(make("div", { className: "lanes-choices" }, trainings, guesses), start);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#start();
    });
    trainings.addEventListener("change", () => this.#clear());
    this.prepend(this.#form, this.#lanes, make("div", { role: "status" }, this.#says));
    this.dataset.state = "asking";
  }

  /** @param {string} legend @param {string} name @param {string[]} texts */
  #radios(legend, name, texts) {
    const labels = texts.map((text, index) => {
      const radio = make("input", { type: "radio", name, value: String(index), required: true });
      if (name === "training") radio.checked = index === 0;
      return make("label", {}, radio, " ", text);
    });
    return make("fieldset", { className: `lanes-${name}` }, make("legend", {}, legend), ...labels);
  }

  #clear() {
    this.#lanes.replaceChildren();
    this.#says.replaceChildren();
    this.#form.querySelectorAll("[name=guess]").forEach((radio) => (/** @type {HTMLInputElement} */ (radio).checked = false));
    this.dataset.state = "asking";
  }

  #start() {
    const chosen = new FormData(this.#form);
    const training = this.#data.trainings[Number(chosen.get("training"))];
    const guess = GUESSES[Number(chosen.get("guess"))];
    if (!training || !guess) return;
    const card = "" in training.gpu ? "" : chosenCard(Object.keys(training.gpu));
    const window = training.gpu[card];
    if (!window) return;
    const [cpu, measured] = training.cpu;
    const [low, high, told] = window;
    const longest = Math.max(cpu, high);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const name = card ? (this.#data.cards[card] ?? "GPU") : "GPU";
    this.#lanes.replaceChildren(
      lane("CPU", measured, cpu, cpu, longest, still),
      lane(name, told, low, high, longest, still),
    );
    const end = () => this.#end(verdict(guess, cpu, low, high), training.why[winner(cpu, low, high)], longest);
    this.dataset.state = "running";
    this.#lanes.scrollIntoView({ block: "nearest" });
    if (still) end();
    else setTimeout(end, SHOWN_S * 1000);
  }

  /** @param {string} said @param {string | undefined} why @param {number} longest */
  #end(said, why, longest) {
    const race = make("a", { href: this.dataset.race ?? "" }, "Race your own machine");
    this.#says.replaceChildren(
      make("strong", {}, said), ` ${why ?? ""} ${pace(longest, SHOWN_S)} `, race, ".",
    );
    this.dataset.state = "ended";
    this.#says.scrollIntoView({ block: "nearest" });
  }
}

/** A lane that fills up to its end, and where that is a window, hatched from the earliest to the latest.
 * @param {string} name @param {string} told @param {number} low @param {number} high @param {number} longest @param {boolean} still */
function lane(name, told, low, high, longest, still) {
  const sure = make("span", { className: "lane-sure" });
  const window = make("span", { className: "lane-window" });
  const track = make("span", { className: "lane-track" }, sure, window);
  const share = (/** @type {number} */ seconds) => `${(100 * seconds) / longest}%`;
  window.style.left = share(low);
  const grow = (/** @type {HTMLElement} */ part, /** @type {number} */ from, /** @type {number} */ to) => {
    const options = { duration: (1000 * SHOWN_S * (to - from)) / longest, delay: (1000 * SHOWN_S * from) / longest };
    part.style.width = share(to - from);
    if (!still) part.animate([{ width: "0" }, { width: share(to - from) }], { ...options, fill: "backwards" });
  };
  grow(sure, 0, low);
  grow(window, low, high);
  return make("p", { className: "lane" }, make("span", { className: "lane-name" }, name), track, make("span", { className: "lane-told" }, told));
}
