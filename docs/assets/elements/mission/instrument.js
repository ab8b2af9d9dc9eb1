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
 * A question as lesson_site/mission/reflections.py writes it: its answers, and what is said to each.
 * @typedef {{options: import("./draw.js").Choice[], right: string, right_says: string, wrong_says: {[value: string]: string}}} Question
 */

/** Whether an answer is right, and what is said to it. @param {Question} question @param {string} answer */
export const judge = ({ right, right_says, wrong_says }, answer) =>
  answer === right ? { right: true, says: right_says } : { right: false, says: wrong_says[answer] ?? "" };

/** A form that sends nothing, and is checked here. @param {HTMLFormElement} form @param {() => void} check */
export function onSubmit(form, check) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    check();
  });
}

/**
 * A table that moves sideways inside itself where the screen is narrow.
 * @param {string} caption
 * @param {string[]} head
 * @param {(string | undefined)[][]} rows the first cell of each is its name
 * @param {(string | undefined)[][]} sums rows below, the first of them the total
 * @param {number} [words] the column that has words, if there is one
 */
export function table(caption, head, rows, sums = [], words) {
  const line = (/** @type {(string | undefined)[]} */ cells, /** @type {boolean} */ total) =>
    html(
      "tr",
      { class: total && "total" },
      ...cells.map((cell, at) => (at ? html("td", { class: at === words && "text" }, cell) : html("th", { scope: "row" }, cell))),
    );
  return html(
    "div",
    { class: "results-scroll", tabindex: 0, role: "region", "aria-label": caption },
    html(
      "table",
      { class: "results-table" },
      html("caption", {}, caption),
      html("thead", {}, html("tr", {}, ...head.map((name, at) => html("th", { scope: "col", class: at === words && "text" }, name)))),
      html("tbody", {}, ...rows.map((cells) => line(cells, false)), ...sums.map((cells, at) => line(cells, at === 0))),
    ),
  );
}
