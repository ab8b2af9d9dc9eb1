// A question answered by placing lines: between the lines that are there is a gap for each.
//
// A choice of a line and a press on a gap place it; every gap is a button, so a keyboard does it too.
// What is chosen is one gap for each line, as in “0 1 7”: how many lines are above it.

import { make } from "./record.js";
import { rightlyPlaced } from "./prediction.js";

export class Places {
  /** @type {HTMLLIElement[]} */ #lines;
  /** @type {HTMLInputElement[]} */ #radios;
  /** @type {Map<number, HTMLLIElement>} by how many lines are above */ #gaps = new Map();
  /** @type {(number | undefined)[]} */ #chosen = [];
  #said = make("p", { className: "check-placed", role: "status" });

  /**
   * @param {Element} missing the lines to place
   * @param {Element} code the lines that are there
   * @param {string} name of the group of radio buttons
   */
  constructor(missing, code, name) {
    this.#lines = [...missing.querySelectorAll("li")];
    this.#radios = this.#lines.map((line, index) => {
      const radio = make("input", { type: "radio", name, value: String(index), checked: index === 0 });
      line.append(make("label", {}, radio, " ", make("span", {}, ...line.childNodes)));
      return radio;
    });
    const there = [...code.querySelectorAll("li")];
    there.forEach((line, index) => {
      if (!line.matches(".check-blank")) line.before(this.#gap(index, line.textContent ?? ""));
    });
    code.querySelector("ol")?.append(this.#gap(there.length, ""));
    missing.append(this.#said);
  }

  /** @param {number} above @param {string} below @returns {HTMLLIElement} */
  #gap(above, below) {
    const button = make("button", { type: "button", className: "check-gap-button" }, make("span", {}, "place it here"));
    button.setAttribute("aria-label", below.trim() ? `Place it before: ${below.trim()}` : "Place it at the end");
    const gap = make("li", { className: "check-gap" }, button);
    gap.dataset.indent = /^ */.exec(below)?.[0] ?? "";
    button.addEventListener("click", () => this.#place(above));
    this.#gaps.set(above, gap);
    return gap;
  }

  /** @param {number} gap */
  #place(gap) {
    const line = this.#radios.findIndex((radio) => radio.checked);
    this.#chosen[line] = gap;
    const next = this.#radios.findIndex((_, index) => this.#chosen[index] === undefined);
    this.#show();
    if (next >= 0) this.#check(next);
    const left = this.#lines.length - this.#chosen.filter((each) => each !== undefined).length;
    this.#said.textContent = left ? `Placed. ${left} to go.` : "All are placed. Commit, or move one.";
  }

  /** @param {number} line */
  #check(line) {
    const radio = this.#radios[line];
    if (radio) radio.checked = true;
  }

  /** @param {boolean[] | null} right whether each line is where it may be, once that is known */
  #show(right = null) {
    for (const gap of this.#gaps.values()) gap.querySelectorAll(".check-put").forEach((put) => put.remove());
    this.#lines.forEach((line, index) => {
      const gap = this.#chosen[index];
      line.classList.toggle("check-set", gap !== undefined);
      const place = gap === undefined ? undefined : this.#gaps.get(gap);
      if (!place) return;
      const put = make("span", { className: "check-put" }, place.dataset.indent ?? "", ...copy(line));
      if (right) put.dataset.verdict = right[index] ? "right" : "different";
      place.append(put);
    });
  }

  /** What is chosen, or an empty string while a line waits. */
  get value() {
    const all = this.#lines.map((_, index) => this.#chosen[index]);
    return all.includes(undefined) ? "" : all.join(" ");
  }

  /** Whether a kept answer still is about these lines and gaps. @param {string} value */
  fits(value) {
    const gaps = value.split(" ").map(Number);
    return gaps.length === this.#lines.length && gaps.every((gap) => this.#gaps.has(gap));
  }

  /** Which lines fit. @param {string} value @param {string} right */
  judge(value, right) {
    return rightlyPlaced(value, right);
  }

  /** Show a kept answer, or none. @param {string} value @param {boolean[]} right by line */
  set(value, right = []) {
    this.#chosen = value ? value.split(" ").map(Number) : [];
    this.#show(value ? right : null);
    this.#check(0);
    this.#said.textContent = "";
  }
}

/** @param {Element} line @returns {Node[]} */
const copy = (line) => [...(line.querySelector("span")?.cloneNode(true).childNodes ?? [])];
