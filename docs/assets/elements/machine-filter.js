// <machine-filter>: checkboxes that show and hide machines in the tables of a results page.
//
// Without it every machine is shown. The choice is kept in the browser, for all results pages.

import { keptMachines } from "./own-machine.js";
import { browserRecord, readEntries, saveEntry } from "./record.js";

const FILTER = "gpu-training.machine-filter.v1"; // entries by machine: {at, shown}
const SEVERAL = 2; // with fewer machines there is nothing to choose

/**
 * Hide what belongs to these machines in every table and every list of sources below `root`.
 * @param {ParentNode} root
 * @param {Set<string>} hidden slugs of machines
 */
function hideMachines(root, hidden) {
  for (const one of root.querySelectorAll("tbody[data-machine], li[data-machine]"))
    if (one instanceof HTMLElement) one.hidden = hidden.has(one.dataset.machine ?? "");
  for (const heading of root.querySelectorAll("th[data-machine]")) {
    if (!(heading instanceof HTMLTableCellElement)) continue;
    const hide = hidden.has(heading.dataset.machine ?? "");
    const table = heading.closest("table");
    for (const row of table?.rows ?? []) {
      const [first] = row.cells;
      const cell = first && first.colSpan === 1 ? row.cells[heading.cellIndex] : undefined;
      if (cell) cell.hidden = hide;
    }
  }
}

export class MachineFilter extends HTMLElement {
  #status = Object.assign(document.createElement("p"), {
    className: "machine-filter-status",
    role: "status",
  });

  connectedCallback() {
    addEventListener("own-machine-changed", this.#draw);
    this.#draw();
  }

  disconnectedCallback() {
    removeEventListener("own-machine-changed", this.#draw);
  }

  /** The page's tables. @returns {ParentNode} */
  get #page() {
    return this.closest("article") ?? document;
  }

  /** Put the reader's machine into the tables, or take it out of them. */
  async #fillTables() {
    const own = keptMachines();
    if (!own.length && !this.#page.querySelector(".results-table .own")) return;
    const { showOwn } = await import("./own-columns.js");
    showOwn(this.#page, own);
  }

  #draw = async () => {
    await this.#fillTables();
    const machines = this.#machines();
    const box = document.createElement("fieldset");
    const legend = Object.assign(document.createElement("legend"), { textContent: "Machines" });
    box.append(legend, ...[...machines].map(([slug, name]) => this.#choice(slug, name)));
    this.replaceChildren(...(machines.size < SEVERAL ? [] : [box]), this.#status);
    this.#apply();
  };

  /** Slug and name of every machine in the tables, the reader's own first. */
  #machines() {
    /** @type {Map<string, string>} */
    const found = new Map();
    const titles = this.#page.querySelectorAll("th[data-machine], tbody[data-machine] .machine > th");
    for (const title of titles) {
      const slug = title.closest("[data-machine]")?.getAttribute("data-machine");
      const name = title.firstChild?.textContent?.trim();
      if (slug && name) found.set(slug, name);
    }
    return found;
  }

  /** @param {string} slug @param {string} name */
  #choice(slug, name) {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), {
      type: "checkbox",
      value: slug,
      checked: readEntries(browserRecord().store, FILTER)[slug]?.shown !== false,
    });
    box.addEventListener("change", () => {
      const entry = { at: new Date().toISOString(), shown: box.checked };
      const saved = saveEntry(browserRecord().store, FILTER, slug, entry);
      this.#apply();
      if (!saved) this.#status.textContent += " Your browser does not keep this choice.";
    });
    label.append(box, ` ${name}`);
    return label;
  }

  #apply() {
    const boxes = [...this.querySelectorAll("input")];
    const hidden = boxes.filter((box) => !box.checked);
    hideMachines(this.#page, new Set(hidden.map((box) => box.value)));
    this.#status.textContent =
      boxes.length && hidden.length === boxes.length ? "No machine is chosen, so the tables are empty." : "";
  }
}
