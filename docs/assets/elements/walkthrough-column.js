// <walkthrough-column>: the learner's own column in the walkthrough table.
//
// The table is part of the page; each of its rows says in `data-row` what it is about.

import { html } from "./mission/draw.js";
import { Instrument } from "./mission/instrument.js";
import { keyOf } from "./mission/pipeline-chart.js";
import { isOpen } from "./mission/state.js";

/** What each row of the table says of a configuration. @type {{[row: string]: (row: any, precision: string, batch: string) => string}} */
const CELLS = {
  memory: ({ memory_gb }, precision, batch) => `${memory_gb} GB (${precision}, Adam, batch ${batch})`,
  utilisation: ({ utilisation }) => `${utilisation} %`,
  mfu: ({ mfu }) => `${mfu} %`,
  throughput: ({ speed }) => `×${speed}`,
  data: ({ shares }) => `${shares[0]} %`,
  shares: ({ shares }) => `${shares[1]} / ${shares[2]} %`,
};

export class WalkthroughColumn extends Instrument {
  /** @param {import("./mission/state.js").State} state @param {import("./mission/state.js").Payload} payload */
  draw(state, payload) {
    if (!isOpen(state, "prediction-2")) {
      for (const cell of this.querySelectorAll(".own-configuration")) cell.remove();
      return;
    }
    const { controls } = state.act2;
    const { checkpointing, mixed, tensor_effect, batch = "" } = controls;
    const row = payload.pipeline[keyOf(controls)];
    const precision = `${mixed === "1" ? "autocast" : "FP32"}${checkpointing === "1" ? " + full" : ""}`;
    const tensor = tensor_effect === "2" ? " (tensor cores halve compute)" : "";
    this.#cell(this.querySelector("thead tr"), "th").textContent = `Your configuration${tensor}`;
    for (const [name, words] of Object.entries(CELLS))
      this.#cell(this.querySelector(`[data-row="${name}"]`), "td").textContent = words(row, precision, batch);
  }

  /** The own cell at a row's end, made on first use. @param {Element | null} row @param {"td" | "th"} tag */
  #cell(row, tag) {
    const found = row?.querySelector(".own-configuration");
    if (found) return found;
    const cell = html(tag, { class: "own-configuration", scope: tag === "th" && "col" });
    row?.append(cell);
    return cell;
  }
}
