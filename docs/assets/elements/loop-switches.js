// <loop-switches>: switch the new lines of a loop on and off, and see where it stops.
//
// It improves on the loop and a table that has all outcomes: each line that can go becomes a switch,
// and the sentence of the table's row is said below.

import { make, part } from "./record.js";

export class LoopSwitches extends HTMLElement {
  #says = make("p", { className: "switch-says" });
  /** @type {HTMLInputElement[]} */
  #switches = [];

  connectedCallback() {
    if (this.#says.isConnected) return;
    for (const line of this.querySelectorAll("[data-switch]")) {
      const box = make("input", { type: "checkbox" });
      line.append(make("label", {}, box, " ", make("span", {}, ...line.childNodes)));
      box.addEventListener("change", () => this.#show());
      this.#switches.push(box);
    }
    part(this, ".check-code", HTMLElement).after(make("div", { role: "status" }, this.#says));
    this.#show();
  }

  #show() {
    const on = this.#switches.map(({ checked }) => (checked ? "1" : "0")).join("");
    const row = part(this, `tr[data-on="${on}"]`, HTMLTableRowElement);
    const stops = Number(row.dataset.line ?? 0);
    this.querySelectorAll(".check-lines > li").forEach((line, index) => {
      const box = line.querySelector("input");
      line.classList.toggle("switch-off", box !== null && !box.checked);
      line.classList.toggle("switch-stops", index + 1 === stops);
    });
    this.#says.textContent = row.cells[row.cells.length - 1]?.textContent ?? "";
    this.dataset.on = on;
  }
}
