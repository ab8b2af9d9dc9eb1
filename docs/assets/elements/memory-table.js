// <memory-table>: three lists that choose which training step the table of memory describes.
//
// Without it the table of one step stands. The lists are native, so keyboard and screen reader know
// them; after a change a live sentence says what the table came to.

import { offered, shown } from "./memory-choices.js";

/** @typedef {import("./memory-choices.js").Choices} Choices */

const LABELS = { precision: "Precision", optimizer: "Optimizer", batch: "Batch size" };

export class MemoryTable extends HTMLElement {
  /** @type {Choices} */
  #choices = {};
  /** @type {{[name: string]: HTMLSelectElement}} */
  #lists = {};

  connectedCallback() {
    if (this.querySelector("fieldset")) return;
    this.#choices = JSON.parse(this.dataset.choices ?? "{}");
    const standing = { precision: "both", optimizer: this.dataset.optimizer, batch: this.dataset.batch };
    const box = document.createElement("fieldset");
    box.append(Object.assign(document.createElement("legend"), { textContent: "The step" }));
    for (const [name, values] of Object.entries(offered(this.#choices))) {
      const key = /** @type {keyof typeof LABELS} */ (name);
      box.append(this.#list(key, values, standing[key] ?? ""));
    }
    this.querySelector(".memory-says")?.setAttribute("role", "status");
    this.prepend(box);
  }

  /** @param {keyof typeof LABELS} name @param {string[]} values @param {string} chosen */
  #list(name, values, chosen) {
    const id = `memory-${name}`;
    const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: LABELS[name] });
    const list = Object.assign(document.createElement("select"), { id });
    list.append(...values.map((value) => new Option(value, value, value === chosen, value === chosen)));
    list.addEventListener("change", this.#draw);
    this.#lists[name] = list;
    const pair = document.createElement("div");
    pair.append(label, list);
    return pair;
  }

  #draw = () => {
    const chosen = (/** @type {string} */ name) => this.#lists[name]?.value ?? "";
    const table = this.querySelector("table");
    const now = shown(this.#choices, {
      precision: chosen("precision"),
      optimizer: chosen("optimizer"),
      batch: chosen("batch"),
    });
    const says = this.querySelector(".memory-says");
    if (!table || !now || !says) return;
    if (table.caption) table.caption.textContent = now.caption;
    table.parentElement?.setAttribute("aria-label", now.caption);
    for (const row of table.rows)
      [...row.cells].slice(1).forEach((cell, column) => (cell.hidden = !now.columns[column]));
    now.cells.forEach((texts, index) => {
      const cells = [...(table.tBodies[0]?.rows[index]?.cells ?? [])].slice(1);
      cells.forEach((cell, column) => (cell.textContent = texts[column] ?? ""));
    });
    says.textContent = now.says;
  };
}
