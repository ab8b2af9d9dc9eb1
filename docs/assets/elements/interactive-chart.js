// <interactive-chart [data-bundle data-kb data-plot]>: draws a chart anew, so that it can be pointed at.
//
// It improves on HTML that says everything: a static drawing and a table. The library is loaded when
// the reader asks for it, once a page; the answer holds for the visit, so that later charts draw
// themselves when they come into view. On paper there is always the static drawing.
// The reader's own machine, if they imported one, becomes a column of the table and part of the chart;
// of a chart that shows nothing that it measured, it becomes no part at all.

import { MACHINE, browserRecord } from "./record.js";

/** @typedef {import("./plot.js").Plot} Plot */
/** @typedef {import("./own-machine.js").OwnMachine} OwnMachine */

/**
 * @typedef {object} Plotly
 * @property {(node: Element, data: object[], layout: object, config: object) => Promise<unknown>} react
 * @property {(node: Element) => void} purge
 */

const CHOICE = "gpu-training.interactive-charts"; // in the session's storage
const CHOSEN = "interactive-charts-chosen";
const VENDOR = new URL("../vendor/", import.meta.url);
const NOT_MEASURED = "not measured";

/** @type {Promise<Plotly> | undefined} */
let loading;

/** The library, loaded once. @param {string} bundle @returns {Promise<Plotly>} */
function plotly(bundle) {
  return (loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(bundle, VENDOR).href;
    script.onload = () => resolve(/** @type {{Plotly: Plotly}} */ (/** @type {unknown} */ (globalThis)).Plotly);
    script.onerror = () => {
      script.remove();
      loading = undefined; // so that another press tries again
      reject(new Error(`${bundle} did not come`));
    };
    document.head.append(script);
  }));
}

/**
 * The reader's machine, if it measured something of a chart; its module is a request that only those
 * make who have one.
 * @param {Plot} plot
 * @returns {Promise<OwnMachine | null>}
 */
async function readersMachine(plot) {
  if (!browserRecord().store.getItem(MACHINE)) return null;
  const { ownMachine, measured } = await import("./own-machine.js");
  const machine = ownMachine();
  return machine && measured(machine, plot) ? machine : null;
}

let chosen = storedChoice();

function storedChoice() {
  try {
    return sessionStorage.getItem(CHOICE) === "yes";
  } catch {
    return false;
  }
}

/** @param {boolean} yes */
function choose(yes) {
  chosen = yes;
  try {
    if (yes) sessionStorage.setItem(CHOICE, "yes");
    else sessionStorage.removeItem(CHOICE);
  } catch {
    // then it holds until the page is left
  }
  document.dispatchEvent(new Event(CHOSEN));
}

export class InteractiveChart extends HTMLElement {
  #button = Object.assign(document.createElement("button"), { type: "button", className: "chart-switch" });
  #plot = Object.assign(document.createElement("div"), { className: "chart-plot" });
  #status = Object.assign(document.createElement("p"), { className: "chart-status", role: "status" });
  #seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) this.#onSeen();
  });
  #palette = new MutationObserver(() => this.#draw());
  /** @type {Plotly | undefined} */
  #library;
  /** @type {OwnMachine | null} */
  #machine = null;

  connectedCallback() {
    if (this.dataset.plot && !this.#button.isConnected) this.#build();
    addEventListener("own-machine-changed", this.#onMachine);
    document.addEventListener(CHOSEN, this.#onChoice);
    this.#palette.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    this.#onMachine();
    this.#onChoice();
  }

  disconnectedCallback() {
    removeEventListener("own-machine-changed", this.#onMachine);
    document.removeEventListener(CHOSEN, this.#onChoice);
    this.#palette.disconnect();
    this.#seen.disconnect();
    this.#clear();
  }

  #build() {
    const drawing = /** @type {SVGElement} */ (this.querySelector(".chart-drawing"));
    this.#plot.setAttribute("role", "img");
    for (const name of ["aria-labelledby", "aria-describedby"])
      this.#plot.setAttribute(name, drawing.getAttribute(name) ?? "");
    this.#button.addEventListener("click", () => this.#onPress());
    this.dataset.state = "static";
    drawing.after(this.#plot, this.#button, this.#status);
    this.#name();
  }

  /** What the button does now; without any value it does nothing, and is not there. */
  #name() {
    const own = this.#machine ? " with your machine" : "";
    this.#button.hidden = "empty" in this.dataset && !own;
    this.#button.textContent =
      this.dataset.state === "interactive"
        ? "Back to the static chart"
        : `Interactive chart${own} (${this.dataset.kb} kB)`;
  }

  #onPress() {
    if (this.dataset.state === "loading") return;
    if (this.dataset.state === "interactive") {
      this.#enter("static");
      choose(false);
    } else {
      this.#load();
      choose(true);
    }
  }

  #onChoice = () => {
    this.#seen.disconnect();
    if (chosen && this.dataset.state === "static") this.#seen.observe(this);
  };

  #onSeen() {
    this.#seen.disconnect();
    this.#load();
  }

  async #load() {
    if (this.dataset.state !== "static" || this.#button.hidden) return;
    this.#enter("loading");
    this.#status.textContent = "Loading the interactive chart …";
    try {
      this.#library = await plotly(this.dataset.bundle ?? "");
      this.#enter("interactive");
      await this.#draw();
      this.#status.textContent = "";
    } catch {
      this.#enter("static");
      this.#status.textContent =
        "The interactive chart could not be loaded, so the static one stays; press the button to try again.";
    }
  }

  /** @param {"static" | "loading" | "interactive"} state */
  #enter(state) {
    this.dataset.state = state;
    if (state === "static") this.#clear();
    this.#name();
  }

  #clear() {
    this.#library?.purge(this.#plot);
    this.#plot.replaceChildren();
  }

  async #draw() {
    if (this.dataset.state !== "interactive" || !this.#library || !this.isConnected) return;
    const { dressed } = await import("./plot.js");
    const { data, layout, config } = dressed(this.#figure(), look(this.clientWidth), this.#machine);
    await this.#library.react(this.#plot, data, layout, config);
  }

  /** What the chart draws, as Python wrote it. @returns {Plot} */
  #figure() {
    return JSON.parse(this.dataset.plot ?? '{"data":[],"layout":{}}');
  }

  #onMachine = async () => {
    const before = this.#machine;
    this.#machine = await readersMachine(this.#figure());
    if (!before && !this.#machine) return;
    const table = this.querySelector("table");
    if (table) showOwnColumns(table, this.#machine);
    if (this.#button.isConnected) this.#name();
    this.#onChoice(); // a chart without any value may have one now
    this.#draw();
  };
}

/** The colours that the page has now. @param {number} width */
function look(width) {
  const style = getComputedStyle(document.body);
  const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return {
    ink: read("--ink"),
    muted: read("--muted"),
    rule: read("--rule"),
    paper: read("--paper"),
    series: [1, 2, 3, 4].map((number) => read(`--chart-${number}`)),
    font: read("--md-text-font"),
    width,
    touch: matchMedia("(pointer: coarse)").matches,
  };
}

/**
 * Beside each column of figures another one with the reader's own; or none of them.
 * @param {HTMLTableElement} table
 * @param {OwnMachine | null} machine
 */
function showOwnColumns(table, machine) {
  for (const old of table.querySelectorAll(".own")) old.remove();
  const [head, first] = table.rows;
  if (!machine || !head || !first) return;
  const named = (/** @type {number} */ column) =>
    [...table.rows].some((row) => row.cells[column]?.dataset.figure);
  const columns = [...first.cells].map((_, index) => index).filter(named);
  for (const column of columns.reverse()) {
    const title = head.cells[column]?.textContent ?? "";
    const words = columns.length > 1 ? `Your machine: ${title}` : "Your machine";
    head.cells[column]?.after(own("th", words, { scope: "col" }));
    for (const row of [...table.rows].slice(1)) {
      const cell = row.cells[column];
      const name = cell?.dataset.figure ?? "";
      const figure = Object.hasOwn(machine.figures, name) ? machine.figures[name] : undefined;
      cell?.after(own("td", figure?.text ?? NOT_MEASURED));
    }
  }
}

/** @param {"th" | "td"} tag @param {string} words @param {{scope?: string}} more */
function own(tag, words, more = {}) {
  return Object.assign(document.createElement(tag), { className: "own", textContent: words, ...more });
}
