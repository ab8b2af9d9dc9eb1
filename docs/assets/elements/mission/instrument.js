// What the instruments share: an element that is drawn anew after every change, and a table.

import { html } from "./draw.js";
import { follow } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Payload} Payload */

/** Draws itself once there is something to draw, and after every change, while it is on the page. */
export class Instrument extends HTMLElement {
  /** @type {AbortController | undefined} */
  #listening;

  connectedCallback() {
    this.#listening = new AbortController();
    follow((state, payload) => this.draw(state, payload), this.#listening.signal);
  }

  disconnectedCallback() {
    this.#listening?.abort();
  }

  /** @param {State} _state @param {Payload} _payload */
  draw(_state, _payload) {}
}

/**
 * A table that moves sideways inside itself where the screen is narrow.
 * @param {string} caption
 * @param {string[]} head
 * @param {(string | undefined)[][]} rows the first cell of each is its name
 */
export function table(caption, head, rows) {
  return html(
    "div",
    { class: "results-scroll", tabindex: 0, role: "region", "aria-label": caption },
    html(
      "table",
      { class: "results-table" },
      html("caption", {}, caption),
      html("thead", {}, html("tr", {}, ...head.map((name) => html("th", { scope: "col" }, name)))),
      html(
        "tbody",
        {},
        ...rows.map(([name, ...cells]) =>
          html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell))),
        ),
      ),
    ),
  );
}
