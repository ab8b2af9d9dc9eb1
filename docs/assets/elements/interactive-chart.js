// <interactive-chart>: a chart whose marks can be pointed at, by mouse, finger or keyboard.
//
// It improves on HTML that says everything: a drawing that Python made, and a table. The description
// of which it was made, the forecasts of every card, and a module that draws the same of them are
// loaded when the reader points at the chart, or has something of their own to show on it: a machine
// (own-machine.js), a card for which they want forecasts, or a prediction. All change the table too.

import { CHECKS, FIRST_CARD, MACHINE, apart, browserRecord, chosenCard, make, readEntries } from "./record.js";

/** @typedef {import("./chart/drawing.js").Description} Description */
/** @typedef {import("./chart/drawing.js").Mark} Mark */
/** @typedef {import("./chart/drawing.js").Spot} Spot */
/** @typedef {import("./chart/drawing.js").Drawing} Drawing */
/** @typedef {import("./own-machine.js").OwnMachine} OwnMachine */
/** @typedef {import("./chart/joined.js").Card} Card */
/** @typedef {{chart: Description, cards: {[id: string]: Card}}} Given */

const DASH = "–";
const HINT = "Point at a mark, or move along them with the arrow keys, to see what it is and where it comes from.";
const MISSING = "The rest of this chart did not load: its picture and its table are as they were. Reload the page to try again.";
const NOTHING = "no mark chosen; the arrow keys move along them";
/** @type {{[key: string]: (at: number, count: number) => number}} */
const KEYS = {
  ArrowRight: (at) => at + 1,
  ArrowDown: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  ArrowUp: (at) => at - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};
/** @type {{[kind: string]: string}} */
const KINDS = { measured: "Measured", published: "Published by others", forecast: "Forecast", exact: "Exact" };

export class InteractiveChart extends HTMLElement {
  /** @type {Drawing | undefined} what is drawn now, once it had to be drawn here */
  #drawing;
  /** @type {OwnMachine | null} */
  #machine = null;
  /** @type {Card | null} */
  #card = null;
  #predicted = "";
  #at = -1;
  /** @type {typeof import("./chart/drawing.js") | undefined} */
  #kit;
  /** @type {Promise<Given> | undefined} */
  #given;
  #failed = false;
  /** @type {Promise<void> | undefined} the last change of what the reader has of their own */
  #changing;
  /** @type {Map<ChildNode, string | null>} what was written for the first card */
  #before = new Map();
  /** What the reader predicted, told to whom the drawing isn't shown. */
  #told = make("p", { className: "chart-told", role: "status" });

  get #frame() {
    return /** @type {HTMLElement} */ (this.querySelector(".chart-frame"));
  }

  get #svg() {
    return /** @type {SVGElement} */ (this.querySelector(".chart-drawing"));
  }

  get #readout() {
    return /** @type {HTMLElement} */ (this.querySelector(".chart-readout"));
  }

  connectedCallback() {
    if (!this.#frame.hasAttribute("role")) this.#become();
    addEventListener("own-machine-changed", this.#onChange);
    addEventListener("card-changed", this.#onChange);
    if (this.dataset.check) this.#frame.after(this.#told);
    this.#onChange();
  }

  disconnectedCallback() {
    removeEventListener("own-machine-changed", this.#onChange);
    removeEventListener("card-changed", this.#onChange);
  }

  /** What is drawn becomes one control that moves along the marks; its value is what is read aloud. */
  #become() {
    const frame = this.#frame;
    frame.tabIndex = 0;
    frame.setAttribute("role", "slider");
    frame.setAttribute("aria-valuemin", "0");
    this.#name();
    frame.addEventListener("focus", () => this.#load());
    frame.addEventListener("pointerenter", () => this.#load());
    frame.addEventListener("pointermove", (event) => this.#point(event));
    frame.addEventListener("pointerdown", (event) => this.#point(event));
    frame.addEventListener("keydown", (event) => this.#onKey(event));
    this.#choose(-1);
  }

  #name() {
    this.#frame.setAttribute("aria-label", `${this.#svg.querySelector("title")?.textContent}: its values`);
  }

  /**
   * Draw something else, as a chart does whose values come in one after the other.
   * @param {Description} description
   * @param {{title: string, finding: string}} words
   */
  async describe(description, { title, finding }) {
    const given = (this.#given = Promise.resolve({ chart: description, cards: {} }));
    for (const [tag, words] of [["title", title], ["desc", finding]])
      for (const named of this.#svg.querySelectorAll(`:scope > ${tag}`)) named.textContent = words ?? "";
    this.#svg.setAttribute("class", `chart-drawing ${description.shape}`);
    this.#name();
    this.#drawing = undefined;
    const drawing = await this.#load();
    if (!drawing || given !== this.#given) return;
    const at = this.#at;
    this.#show(drawing);
    this.#choose(at);
  }

  /** What is drawn; nothing where it can't be loaded. @returns {Promise<Drawing | undefined>} */
  async #load() {
    await this.#changing; // it would take back what somebody points at meanwhile
    const given = this.#written();
    const parts = this.#drawing ? undefined : await this.#loaded([import("./chart/drawing.js"), given]);
    if (!parts || given !== this.#given) return this.#drawing;
    this.#kit = parts[0];
    return (this.#drawing ??= this.#kit.draw(parts[1].chart));
  }

  /** Of what the drawing is made. */
  #written() {
    this.#given ??= /** @type {Promise<Given>} */ (apart(this));
    this.#given.catch(() => (this.#given = undefined));
    return this.#given;
  }

  /**
   * What comes when it is needed; without it drawing and table stay as they are, and a sentence says so.
   * @template {unknown[]} T
   * @param {[...T]} wanted
   */
  async #loaded(wanted) {
    try {
      const parts = await Promise.all(wanted);
      this.#failed = false;
      this.#readout.removeAttribute("role");
      return parts;
    } catch {
      this.#failed = true;
      this.#readout.setAttribute("role", "status");
      this.#readout.hidden = false;
      this.#readout.textContent = MISSING;
      this.#frame.setAttribute("aria-valuetext", MISSING);
      return undefined;
    }
  }

  #onChange = () => {
    this.#changing = this.#change();
  };

  /** Take what the reader has of their own, draw it, and put it into the table. */
  async #change() {
    const before = this.#machine ?? this.#card ?? (this.#predicted || null);
    const hasMachine = Boolean(browserRecord().store.getItem(MACHINE));
    const hasCard = "cards" in this.dataset && chosenCard() !== FIRST_CARD;
    const predicted = this.#prediction();
    if (!before && !hasMachine && !hasCard && !predicted) return;
    if (!this.#given && !this.dataset.apart && !this.dataset.at) return;
    const own = hasMachine ? import("./own-machine.js") : null;
    const drawing = import("./chart/drawing.js");
    const parts = await this.#loaded([own, drawing, import("./chart/joined.js"), this.#written()]);
    if (!parts) return;
    const [kept, kit, joined, { chart, cards }] = parts;
    this.#kit = kit;
    const machine = kept?.ownMachine() ?? null;
    const chosen = cards[chosenCard(Object.keys(cards))] ?? null;
    const mine = machine && joined.isPartOf(chart, machine) ? machine : null;
    if (!before && !mine && !chosen && !predicted) return;
    [this.#machine, this.#card, this.#predicted] = [mine, chosen, predicted];
    const guessed = joined.withGuess(chart, predicted);
    this.#drawing = kit.draw(joined.withOwn(joined.withCard(guessed, chosen), mine));
    this.#show(this.#drawing);
    this.#say(chosen);
    const guesses = joined.guessesIn(guessed);
    const labels = guesses.map(({ label }) => label).join(", ");
    this.#told.textContent = labels && `The chart marks ${kit.YOUR_GUESS}, from top to bottom: ${labels}.`;
    const table = this.querySelector("table");
    if (!table) return;
    showForecasts(table, chosen);
    showOwnColumns(table, mine && ((name, amount) => joined.figureOf(mine, name, amount)?.text));
    showGuesses(table, guesses.map(({ mark }) => mark.name), kit.YOUR_GUESS);
  }

  /** What the reader predicted in the chart's check, or nothing. */
  #prediction() {
    const { check } = this.dataset;
    const kept = check ? readEntries(browserRecord().store, CHECKS)[check] : undefined;
    return kept?.kind === "match" ? String(kept.value) : "";
  }

  /** The caption and the table's words for a card, or what was written. @param {Card | null} card */
  #say(card) {
    const caption = this.parentElement?.querySelector("figcaption")?.firstChild;
    const words = [...this.querySelectorAll("[data-words]")];
    for (const part of [caption, this.#svg.querySelector("desc")]) if (part) this.#put(part, card && `${card.finding} `);
    for (const cell of words) this.#put(cell, card && (cell.getAttribute("data-words") ?? "").replaceAll("{card}", card.label));
  }

  /** Say something in a place, or again what was written there. @param {ChildNode} place @param {string | null} text */
  #put(place, text) {
    const before = this.#before.get(place) ?? place.textContent;
    this.#before.set(place, before);
    place.textContent = text ?? before;
  }

  /** @param {Drawing} drawing */
  #show({ nodes, height, spots }) {
    const named = [...this.#svg.children].filter(({ localName }) => ["title", "desc"].includes(localName));
    this.#svg.replaceChildren(...named, ...nodes.map((node) => this.#element(node)));
    this.#svg.setAttribute("height", String(height));
    this.#frame.hidden = this.#readout.hidden = spots.length === 0;
    this.#choose(-1);
  }

  /** @param {import("./chart/drawing.js").Node} node */
  #element(node) {
    return this.#kit?.toElement(node) ?? "";
  }

  /** @param {PointerEvent} event */
  async #point({ clientX, clientY }) {
    const { spots } = (this.#failed ? undefined : await this.#load()) ?? {};
    if (!spots) return;
    const box = this.#svg.getBoundingClientRect();
    const far = (/** @type {Spot} */ { x, y }) =>
      (box.left + (x * box.width) / 100 - clientX) ** 2 + (box.top + y - clientY) ** 2;
    // Rows lie below one another, so that a row is found wherever in it somebody points.
    const off = (/** @type {Spot} */ spot) =>
      this.#svg.classList.contains("rows") ? Math.abs(box.top + spot.y - 8 - clientY) : far(spot);
    const nearest = spots.reduce((best, spot, index) => (off(spot) < off(spots[best] ?? spot) ? index : best), 0);
    if (nearest !== this.#at) this.#choose(nearest);
  }

  /** @param {KeyboardEvent} event */
  async #onKey(event) {
    const step = KEYS[event.key];
    if (event.key === "Escape") this.#choose(-1);
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { spots } = (await this.#load()) ?? {};
    if (spots) this.#choose(Math.max(0, Math.min(spots.length - 1, step(this.#at, spots.length))));
  }

  /** Point at a mark, or at none. @param {number} index */
  #choose(index) {
    const spot = this.#drawing?.spots[index];
    this.#at = spot ? index : -1;
    this.#svg.querySelector(".cursor")?.remove();
    const count = this.#drawing?.spots.length ?? 0;
    this.#frame.setAttribute("aria-valuemax", String(count));
    this.#frame.setAttribute("aria-valuenow", String(this.#at + 1));
    if (!spot) {
      this.#frame.setAttribute("aria-valuetext", NOTHING);
      this.#readout.textContent = this.#card ? `Forecasts for ${this.#card.label}, which you chose. ${HINT}` : HINT;
      return;
    }
    const { first, rest } = told(spot);
    this.#frame.setAttribute("aria-valuetext", `${first}. ${rest}`);
    this.#readout.replaceChildren(Object.assign(document.createElement("strong"), { textContent: first }), `. ${rest}`);
    this.#svg.append(this.#element(["circle", { class: "cursor", cx: `${spot.x}%`, cy: String(spot.y), r: "11" }, []]));
  }
}

/** What a reader is told about a mark: of what, how much, of which kind, and how it was found. @param {Spot} spot */
function told({ label, mark }) {
  const text = mark.noisy ? `${mark.text} (noisy)` : mark.text;
  const kind = mark.by ? `Measured by ${mark.by}` : KINDS[mark.kind ?? "measured"];
  const parts = [mark.kind === "forecast" && mark.band ? `${kind}, ${mark.band}` : kind, mark.source];
  return { first: `${label}: ${text}`, rest: `${parts.filter(Boolean).join(": ")}.` };
}

/**
 * The chosen card's forecasts in the table's cells, or those that were there.
 * @param {HTMLTableElement} table
 * @param {Card | null} card
 */
function showForecasts(table, card) {
  for (const cell of table.querySelectorAll("td")) {
    const { figure = "", kind } = cell.dataset;
    if (kind !== "forecast") continue;
    cell.dataset.written ??= cell.textContent ?? "";
    const [, text, , , band] = (card && Object.hasOwn(card.figures, figure) && card.figures[figure]) || [];
    const chosen = text ? `${card?.label}: forecast ${[text, band].filter(Boolean).join(", ")}` : DASH;
    cell.textContent = card ? chosen : cell.dataset.written;
  }
}

/**
 * Beside each column of figures another one with the reader's own; or none of them.
 * @param {HTMLTableElement} table
 * @param {((name: string, amount: number) => string | undefined) | null} textOf
 */
function showOwnColumns(table, textOf) {
  for (const old of table.querySelectorAll(".own")) old.remove();
  const [head, first] = table.rows;
  if (!textOf || !head || !first) return;
  const named = (/** @type {number} */ column) =>
    [...table.rows].some((row) => row.cells[column]?.dataset.figure);
  const columns = [...first.cells].map((_, index) => index).filter(named);
  for (const column of columns.reverse()) {
    const title = head.cells[column]?.textContent ?? "";
    const words = columns.length > 1 ? `Your machine: ${title}` : "Your machine";
    head.cells[column]?.after(own("th", words, { scope: "col" }));
    for (const row of [...table.rows].slice(1)) {
      const cell = row.cells[column];
      const name = cell?.dataset.own ?? cell?.dataset.figure ?? "";
      cell?.after(own("td", textOf(name, Number(cell.dataset.amount ?? 0)) ?? DASH));
    }
  }
}

/**
 * What the reader predicted, said behind the names of those rows; showOwnColumns takes it out again.
 * @param {HTMLTableElement} table
 * @param {(string | undefined)[]} guessed the names of those rows' figures
 * @param {string} words
 */
function showGuesses(table, guessed, words) {
  for (const cell of table.querySelectorAll("td")) {
    if (!cell.dataset.figure || !guessed.includes(cell.dataset.figure)) continue;
    cell.previousElementSibling?.append(make("span", { className: "own" }, `, ${words}`));
  }
}

/** @param {"th" | "td"} tag @param {string} words @param {{scope?: string}} more */
function own(tag, words, more = {}) {
  return Object.assign(document.createElement(tag), { className: "own", textContent: words, ...more });
}
