// <training-timeline>: a training loop in time, drawn and told anew for what the reader chooses.
//
// The build drew and told the first choice. Every block can be walked to and says what it is; one button
// suggests the next thing to try. What runs loops comes with the first of these presses.

import { toElement } from "./chart/drawing.js";
import { apart, chooseCard, chosenCard, part } from "./record.js";
import { blocksShown, draw, stepsShown } from "./timeline/drawing.js";
import { runsOf } from "./timeline/loop.js";
import { moved, nextMove, sentences, title, toldOf } from "./timeline/told.js";

/** @typedef {import("./timeline/loop.js").Choice} Choice */
/** @typedef {import("./timeline/loop.js").Payload} Payload */
/** @typedef {import("./timeline/loop.js").Runs} Runs */

const LISTS = ["model", "batch", "images", "workers", "card"];
const SWITCHES = ["pinned", "reads_loss", "fused", "graph"];
const PLAY_S = 6;
const MISSING = "The rest of this picture did not load; press again to try once more.";

export class TrainingTimeline extends HTMLElement {
  /** @type {Promise<Payload> | undefined} */
  #coming;
  /** @type {Runs | undefined} of what is shown */
  #runs;
  /** Which block is told of, from 0; none at first. */
  #at = -1;
  #playing = 0;
  /** What stands where a block is told of, while none is. */
  #hint = "";

  connectedCallback() {
    this.#hint ||= part(this, ".timeline-block", HTMLElement).textContent ?? "";
    this.addEventListener("change", this.#onChange);
    this.addEventListener("click", this.#onClick);
    addEventListener("card-changed", this.#onCard);
    this.#onCard();
    this.#closeSwitches();
  }

  disconnectedCallback() {
    this.removeEventListener("change", this.#onChange);
    this.removeEventListener("click", this.#onClick);
    removeEventListener("card-changed", this.#onCard);
    cancelAnimationFrame(this.#playing);
  }

  /** @param {string} name */
  #list = (name) => part(this, `select[name="${name}"]`, HTMLSelectElement);
  /** @param {string} name */
  #switch = (name) => part(this, `input[name="${name}"]`, HTMLInputElement);

  /** @returns {Choice} */
  get #choice() {
    const [model = "", batch, images = "", workers, card = ""] = LISTS.map((name) => this.#list(name).value);
    const [pinned = false, reads_loss = false, fused = false, graph = false] = SWITCHES.map(
      (name) => this.#switch(name).checked,
    );
    return { model, batch: Number(batch), images, workers: Number(workers), card, pinned, reads_loss, fused, graph };
  }

  /** @param {Choice} choice */
  set #choice(choice) {
    for (const name of LISTS) this.#list(name).value = String(choice[/** @type {keyof Choice} */ (name)]);
    for (const name of SWITCHES) this.#switch(name).checked = Boolean(choice[/** @type {keyof Choice} */ (name)]);
  }

  /** Do something with what runs loops, which is fetched once. @param {(payload: Payload) => void} act */
  async #with(act) {
    this.#coming ??= apart(this);
    const payload = await this.#coming.catch(() => undefined);
    if (payload) return act(payload);
    this.#coming = undefined;
    this.#say(MISSING);
  }

  /** The reader's card, once for the whole site. */
  #onCard = () => {
    const list = this.#list("card");
    const card = chosenCard([...list.options].map(({ value }) => value));
    if (list.value === card) return;
    list.value = card;
    this.#with(this.#show);
  };

  /** @param {Event} event */
  #onChange = ({ target }) => {
    if (target instanceof HTMLSelectElement && target.name === "card") chooseCard(target.value);
    this.#with(this.#show);
  };

  /** @param {Event} event */
  #onClick = ({ target }) => {
    if (!(target instanceof Element)) return;
    const block = target.closest("[data-block]")?.getAttribute("data-block");
    if (block) this.#with((payload) => this.#tell(payload, Number(block)));
    const action = target.closest("[data-do]")?.getAttribute("data-do");
    if (action === "next") this.#with((payload) => this.#tell(payload, this.#at + 1));
    if (action === "back") this.#with((payload) => this.#tell(payload, this.#at - 1));
    if (action === "play") this.#play();
    if (action === "move") this.#with(this.#move);
  };

  /** Try what is suggested. @param {Payload} payload */
  #move = (payload) => {
    const before = this.#ran(payload);
    const move = nextMove(payload, this.#choice);
    this.#choice = move.choice;
    this.#show(payload);
    part(this, ".timeline-moved", HTMLElement).textContent = moved(payload, move, before, this.#ran(payload));
  };

  /** What is shown, run once. @param {Payload} payload */
  #ran(payload) {
    return (this.#runs ??= runsOf(payload, this.#choice));
  }

  /** Draw and tell what is chosen. @param {Payload} payload */
  #show = (payload) => {
    const choice = this.#choice;
    this.#closeSwitches();
    this.#stop();
    this.#at = -1;
    this.#runs = undefined;
    const runs = this.#ran(payload);
    const { nodes, height } = draw(payload, runs.likely, choice);
    const name = title(payload, choice, stepsShown(choice));
    const svg = part(this, ".timeline-drawing", SVGSVGElement);
    svg.replaceChildren(...nodes.map(toElement));
    svg.setAttribute("height", String(height));
    svg.setAttribute("aria-label", `${name}; the sentences below say what it shows`);
    part(this, "figcaption", HTMLElement).textContent = name;
    part(this, ".timeline-says", HTMLElement).replaceChildren(
      ...sentences(payload, choice, runs).map((text) => Object.assign(document.createElement("p"), { textContent: text })),
    );
    part(this, "[data-do=move]", HTMLButtonElement).textContent = nextMove(payload, choice).question;
    part(this, ".timeline-moved", HTMLElement).textContent = "";
    this.#say(this.#hint);
  };

  /** With the data on the GPU there is no loader, and no copy. */
  #closeSwitches() {
    const there = this.#list("images").value === "device";
    this.#list("workers").disabled = there;
    this.#switch("pinned").disabled = there;
  }

  /** Tell of one block, and mark it. @param {Payload} payload @param {number} index from 0; behind the last comes the first */
  #tell(payload, index) {
    const choice = this.#choice;
    const blocks = blocksShown(payload, this.#ran(payload).likely, stepsShown(choice));
    this.#at = (index + blocks.length) % blocks.length;
    const block = blocks[this.#at];
    this.querySelector("[data-block].now")?.classList.remove("now");
    this.querySelector(`[data-block="${this.#at}"]`)?.classList.add("now");
    if (block) this.#say(toldOf(payload, block, choice));
  }

  /** @param {string} text */
  #say(text) {
    const says = part(this, ".timeline-block", HTMLElement);
    if (says.textContent !== text) says.textContent = text; // what stays is not read aloud again
  }

  /** Let time pass over the picture. */
  #play() {
    this.#stop();
    const svg = part(this, ".timeline-drawing", SVGSVGElement);
    const begun = performance.now();
    const tick = () => {
      const share = (performance.now() - begun) / 1000 / PLAY_S;
      if (share >= 1) return this.#stop();
      svg.classList.add("playing");
      svg.style.setProperty("--left", `${100 - 100 * share}%`);
      this.#playing = requestAnimationFrame(tick);
    };
    tick();
  }

  #stop() {
    cancelAnimationFrame(this.#playing);
    part(this, ".timeline-drawing", SVGSVGElement).classList.remove("playing");
  }
}
