// <float-switches>: the bits of a number as switches. What they mean, their neighbours, and what other
// formats make of the number follow. Until this comes the page has one number.

import { make, part } from "./record.js";
import { FloatFormat, becomes, beside, powerOfTwo, reading, written } from "./floats/formats.js";

/**
 * @typedef {object} Data
 * @property {import("./floats/formats.js").Layout[]} formats
 * @property {string[]} switched names of those with switches
 * @property {number} number the one to begin with
 * @property {[low: number, high: number]} window exponents of two at the ends of the drawing
 */

export class FloatSwitches extends HTMLElement {
  /** @type {Data} */
  #data = JSON.parse(this.dataset.floats ?? "{}");
  #formats = this.#data.formats.map((layout) => new FloatFormat(layout));
  #kind = this.#named(this.#data.switched[0] ?? "");
  #number = this.#data.number; // what was typed, or what the switches say
  #pattern = this.#kind.pattern(this.#number);
  #bits = make("div", { className: "float-bits" });
  #field = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });

  connectedCallback() {
    if (this.querySelector("fieldset")) return;
    const label = make("label", {}, "Round a number ", this.#field);
    const round = button("Round it", this.#round);
    const form = make("form", { className: "float-form" }, label, round);
    form.addEventListener("submit", this.#round);
    const jumps = make("div", { className: "float-jumps" });
    jumps.append(
      button("Next below", () => this.#step(0)),
      button("Next above", () => this.#step(1)),
      button("Smallest", () => this.#go(this.#kind.smallest)),
      button("Smallest normal", () => this.#go(this.#kind.smallestNormal)),
      button("Largest", () => this.#go(this.#kind.largest)),
    );
    const legend = make("legend", { textContent: "A number of 16 bits" });
    this.prepend(make("fieldset", {}, legend, this.#kinds(), form, this.#bits, jumps));
    this.#field.value = written(this.#number);
    this.#layOut();
    this.#show();
  }

  /** @param {string} name @returns {FloatFormat} */
  #named(name) {
    const found = this.#formats.find((kind) => kind.name === name);
    if (!found) throw new TypeError(`there is no format ${name}`);
    return found;
  }

  /** The choice of the format that the switches are of. */
  #kinds() {
    const choices = this.#data.switched.map((name) => {
      const choice = make("input", { type: "radio", name: "float-kind", value: name, checked: name === this.#kind.name });
      choice.addEventListener("change", () => {
        this.#kind = this.#named(name);
        this.#pattern = this.#kind.pattern(this.#number);
        this.#layOut();
        this.#show();
      });
      return make("label", {}, choice, ` ${name}`);
    });
    return make("div", { className: "float-kinds" }, ...choices);
  }

  /** A switch for each bit of the format. */
  #layOut() {
    const { exponentBits, fractionBits } = this.#kind;
    const exponent = Array.from({ length: exponentBits }, (_, at) => `${2 ** (exponentBits - 1 - at)}`);
    const fraction = Array.from({ length: fractionBits }, (_, at) => powerOfTwo(-1 - at));
    this.#bits.replaceChildren(
      this.#group("Sign", [["−", "sign"]], this.#kind.bits - 1),
      this.#group("Exponent", exponent.map((worth) => [worth, `exponent, worth ${worth}`]), this.#kind.bits - 2),
      this.#group("Fraction", fraction.map((worth, at) => [worth, `fraction, worth 1/${2 ** (at + 1)}`]), fractionBits - 1),
    );
  }

  /** @param {string} title @param {[shown: string, name: string][]} bits @param {number} highest place of the first */
  #group(title, bits, highest) {
    const group = make("div", { className: "float-group" }, make("span", { className: "float-title", textContent: title }));
    const row = make("div");
    bits.forEach(([shown, name], at) => {
      const bit = make("input", { type: "checkbox", value: String(2 ** (highest - at)), ariaLabel: `Bit ${name}` });
      bit.setAttribute("role", "switch");
      bit.addEventListener("change", this.#switched);
      const worth = make("small", { textContent: shown, ariaHidden: "true" });
      row.append(make("label", {}, bit, make("span", { ariaHidden: "true" }), worth));
    });
    group.append(row);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", title);
    return group;
  }

  /** @returns {HTMLInputElement[]} */
  get #switches() {
    return [...this.#bits.querySelectorAll("input")];
  }

  #switched = () => {
    this.#pattern = this.#switches.reduce((all, bit) => all + (bit.checked ? Number(bit.value) : 0), 0);
    this.#number = this.#kind.value(this.#pattern);
    this.#show();
  };

  /** @param {Event} event */
  #round = (event) => {
    event.preventDefault();
    const typed = this.#field.value.trim().replace("−", "-").replace(",", ".");
    const number = Number(typed);
    const isNumber = typed !== "" && !Number.isNaN(number);
    this.#field.setAttribute("aria-invalid", String(!isNumber));
    if (isNumber) this.#go(number);
    else this.#say([`“${this.#field.value}” is not a number; write one such as 0.1 or 1e-8.`]);
  };

  /** @param {0 | 1} side */
  #step(side) {
    const next = this.#kind.neighbours(this.#pattern)[side];
    if (Number.isNaN(next)) this.#say([beside(this.#kind, this.#pattern) || "Nothing is beside it."]);
    else this.#go(next);
  }

  /** @param {number} number */
  #go(number) {
    this.#number = number;
    this.#pattern = this.#kind.pattern(number);
    this.#show();
  }

  #show() {
    for (const bit of this.#switches) bit.checked = Math.floor(this.#pattern / Number(bit.value)) % 2 === 1;
    const value = this.#kind.value(this.#pattern);
    const own = Object.is(this.#number, value) ? `${written(value)}:` : becomes(this.#kind, this.#number);
    this.#say([own, reading(this.#kind, this.#pattern), beside(this.#kind, this.#pattern)]);
    this.#mark(value);
    const table = part(this, "table", HTMLTableElement);
    const head = table.tHead?.rows[0]?.cells[1];
    if (head) head.textContent = `${written(this.#number)} becomes`;
    this.#formats.forEach((kind, index) => {
      const row = table.tBodies[0]?.rows[index];
      const cell = row?.cells[1];
      if (cell) cell.textContent = written(kind.kept(this.#number));
      if (kind === this.#kind) row?.setAttribute("aria-current", "true");
      else row?.removeAttribute("aria-current");
    });
  }

  /** How far along the number line a number lies, from 0 to 1. @param {number} number */
  #share(number) {
    const [low, high] = this.#data.window;
    return number ? (Math.min(Math.max(Math.log2(Math.abs(number)), low), high) - low) / (high - low) : 0;
  }

  /** A line on the number line, with words. @param {string} name @param {number} share @param {string} said */
  #draw(name, share, said) {
    const at = `${(100 * share).toFixed(2)}%`;
    const line = part(this, `.${name}`, SVGLineElement);
    const words = part(this, `.${name}-at`, SVGTextElement);
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
    words.setAttribute("x", at);
    words.textContent = said;
    for (const [side, here] of /** @type {[string, boolean][]} */ ([["middle", share >= 0.15 && share <= 0.85], ["end", share > 0.85]]))
      words.classList.toggle(side, here);
  }

  /** The line at the number, the one at what was asked for, and the colour of the format. @param {number} value */
  #mark(value) {
    const gone = Number.isNaN(value);
    const share = this.#share(value);
    const asked = this.#share(this.#number);
    part(this, ".float-mark", SVGLineElement).classList.toggle("gone", gone);
    this.#draw("float-mark", share, gone ? "" : written(value));
    const far = !gone && Math.abs(asked - share) > 0.1; // nearer, its words would cover the others
    this.#draw("float-asked", far ? asked : share, far ? written(this.#number) : "");
    for (const row of this.querySelectorAll(".float-row")) {
      const chosen = row.getAttribute("data-format") === this.#kind.name;
      row.classList.toggle("c2", chosen);
      row.classList.toggle("c1", !chosen);
    }
  }

  /** @param {string[]} sentences */
  #say(sentences) {
    const said = sentences.filter(Boolean).map((textContent) => make("p", { textContent }));
    part(this, ".float-says", HTMLElement).replaceChildren(...said);
  }
}

/** @param {string} textContent @param {(event: Event) => void} press */
function button(textContent, press) {
  const made = make("button", { type: "button", className: "chart-switch", textContent });
  made.addEventListener("click", press);
  return made;
}
