// <mission-tradeoff>: whether fewer steps are worth the memory, on each device. No answer is wrong.

import { check, radios } from "./mission/controls.js";
import { html } from "./mission/draw.js";
import { Instrument } from "./mission/instrument.js";
import { LONGEST_REASON, isOpen, mission } from "./mission/state.js";

/** @typedef {import("./mission/state.js").State} State */
/** @typedef {"node" | "laptop"} Device */

/** @type {Device[]} */
const DEVICES = ["node", "laptop"];
const VERDICTS = ["worth", "not"];

export class MissionTradeoff extends Instrument {
  /** @param {State} state */
  draw(state) {
    if (!isOpen(state, "reveal-1")) return this.replaceChildren();
    if (!this.querySelector("fieldset")) this.#build();
    const { tradeoff } = state.act1;
    for (const device of DEVICES) {
      const chosen = tradeoff[device];
      check(this, `tradeoff-${device}`, chosen);
      const says = this.querySelector(`.tradeoff-${device}`);
      if (says) says.textContent = chosen && mission.text(`tradeoff.${device}.${chosen}`);
    }
    const reason = this.querySelector("input[type=text]");
    if (reason instanceof HTMLInputElement && reason.value !== tradeoff.reason) reason.value = tradeoff.reason;
  }

  #build() {
    const reason = html("input", { type: "text", id: "tradeoff-reason", maxlength: LONGEST_REASON, autocomplete: "off" });
    reason.addEventListener("input", () => {
      mission.change(({ act1 }) => {
        act1.tradeoff.reason = reason.value.slice(0, LONGEST_REASON);
      });
    });
    this.replaceChildren(
      html("div", { class: "tradeoff-decisions" }, ...DEVICES.map((device) => this.#decision(device))),
      html("div", { class: "mission-field" }, html("label", { for: "tradeoff-reason" }, mission.text("tradeoff.reason")), reason),
    );
  }

  /** @param {Device} device */
  #decision(device) {
    const group = radios({
      name: `tradeoff-${device}`,
      legend: mission.text(`tradeoff.${device}`),
      choices: VERDICTS.map((verdict) => [verdict, mission.text(`tradeoff.${verdict}`)]),
      chosen: null,
      onChange: (verdict) => {
        mission.change(({ act1 }) => {
          act1.tradeoff[device] = verdict;
        });
        mission.say(mission.text(`tradeoff.${device}.${verdict}`));
      },
    });
    return html("div", {}, group, html("p", { class: `mission-line tradeoff-${device}` }));
  }
}
