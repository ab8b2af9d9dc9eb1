// <mission-reveal>: the reveal of Act 1, once SGD and Adam were both shown at FP32.

import { button, fill, html } from "./mission/draw.js";
import { Instrument } from "./mission/instrument.js";
import { COMPARED } from "./mission/ledger-chart.js";
import { FIRST, LETTERS, isOpen, mission } from "./mission/state.js";

/** @typedef {import("./mission/state.js").State} State */
/** @typedef {import("./mission/state.js").Payload} Payload */

const NEEDED = ["sgd", "adam"];

/** Set the ledger to what the reveal is about. @param {State} state */
function compare({ act1 }) {
  Object.assign(act1.controls, COMPARED);
  act1.hidden = [];
  act1.revealed = true;
}

/** Move the focus to a heading or a figure. @param {string} selector */
function goTo(selector) {
  const found = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  found?.setAttribute("tabindex", "-1");
  found?.focus();
  return found;
}

export class MissionReveal extends Instrument {
  #drawn = "";

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#drawn = "";
  }

  /** @param {State} state @param {Payload} payload */
  draw(state, payload) {
    const { prediction, revealed, seen } = state.act1;
    const now = JSON.stringify([isOpen(state, "prediction-1"), prediction, revealed, seen]);
    if (now === this.#drawn) return;
    this.#drawn = now;
    if (!isOpen(state, "prediction-1")) this.replaceChildren();
    else if (revealed) this.replaceChildren(...sentences(prediction ?? ""));
    else this.#closed(seen, payload);
  }

  /** @param {string[]} seen @param {Payload} payload */
  #closed(seen, payload) {
    const names = Object.fromEntries(payload.controls.ledger?.optimizer?.values ?? []);
    const missing = NEEDED.filter((optimizer) => !seen.includes(optimizer)).map((optimizer) => names[optimizer]);
    if (!this.querySelector("button")) {
      const reveal = button("Reveal what Adam adds", () => this.#reveal(reveal), "", { "aria-describedby": "reveal-need" });
      this.replaceChildren(html("div", { class: "mission-buttons" }, reveal, html("p", { id: "reveal-need", class: "mission-note" })));
    }
    this.querySelector("button")?.setAttribute("aria-disabled", String(missing.length > 0));
    const need = this.querySelector("#reveal-need");
    const says = missing.length ? fill(mission.text("reveal.need"), { missing: missing.join(" and ") }) : "";
    if (need) need.textContent = says;
  }

  /** @param {HTMLButtonElement} button */
  #reveal(button) {
    if (button.getAttribute("aria-disabled") === "true") return;
    mission.change(compare);
    goTo("#reveal");
    mission.say(this.querySelector(".reveal-says")?.textContent ?? "");
  }
}

/** What the reveal says: what the check has to say to this prediction. @param {string} prediction */
function sentences(prediction) {
  const check = document.getElementById(FIRST);
  const reply = check?.querySelector(`[data-to="${LETTERS.indexOf(prediction) + 1}"] dd`);
  const said = reply ?? check?.querySelector(".check-answer-text > p");
  const show = button("Show it in the ledger", () => {
    mission.change(compare);
    goTo("memory-ledger figure")?.scrollIntoView({ block: "center" });
  });
  return [
    html("p", { class: "reveal-says" }, ...(said?.cloneNode(true).childNodes ?? [])),
    html("div", { class: "mission-buttons" }, show),
  ];
}
