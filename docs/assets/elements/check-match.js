// A question answered by saying for each row which of two to four options it is.
//
// Each option has a colour of its own beside its name, so that the answer can be seen as a pattern.
// What is chosen is the number of an option for each row, as in “1 2 1”.

import { make } from "./record.js";
import { rightlyMatched } from "./prediction.js";

export class Matches {
  /** @type {{item: Element, radios: HTMLInputElement[]}[]} */ #rows;

  /** @param {Element} box with the rows and the options @param {string} name of the check */
  constructor(box, name) {
    const options = [...box.querySelectorAll(".check-options > li")];
    this.#rows = [...box.querySelectorAll(".check-rows > li")].map((item, row) => {
      const id = `${name}-row-${row + 1}`;
      const radios = options.map((_, option) =>
        make("input", { type: "radio", name: id, value: String(option + 1) }),
      );
      const labels = options.map((option, index) => {
        const words = make("span", {}, ...option.cloneNode(true).childNodes);
        const label = make("label", { className: "check-option" }, radios[index] ?? "", " ", words);
        label.dataset.option = String(index + 1);
        return label;
      });
      const group = make("span", { className: "check-option-group", role: "radiogroup" }, ...labels);
      group.setAttribute("aria-labelledby", id);
      item.replaceChildren(make("span", { id }, ...item.childNodes), group);
      return { item, radios };
    });
    box.querySelector(".check-options")?.remove();
    box.querySelector("p")?.remove();
  }

  /** What is chosen, or an empty string while a row waits. */
  get value() {
    const all = this.#rows.map(({ radios }) => radios.find(({ checked }) => checked)?.value);
    return all.includes(undefined) ? "" : all.join(" ");
  }

  /** Whether a kept answer still is about these rows and options. @param {string} value */
  fits(value) {
    const chosen = value.split(" ").map(Number);
    return (
      chosen.length === this.#rows.length &&
      chosen.every((option, row) => this.#rows[row]?.radios[option - 1] !== undefined)
    );
  }

  /** Which rows are right. @param {string} value @param {string} right */
  judge(value, right) {
    return rightlyMatched(value, right);
  }

  /** Show a kept answer, or none. @param {string} value @param {boolean[]} right by row */
  set(value, right = []) {
    const chosen = value.split(" ").map(Number);
    this.#rows.forEach(({ item, radios }, row) => {
      radios.forEach((radio, option) => (radio.checked = option + 1 === chosen[row]));
      item.setAttribute("data-verdict", value ? (right[row] ? "right" : "different") : "");
    });
  }
}
