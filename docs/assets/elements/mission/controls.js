// The controls of the instruments. All are native, so keyboard and screen reader know them.
//
// They stand apart from draw.js, since a first visit shows none of them.

import { html } from "./draw.js";

/** @typedef {import("./draw.js").Choice} Choice */

/**
 * A group of radio buttons.
 * @param {{name: string, legend: string, choices: Choice[], chosen: string | null, disabled?: boolean,
 *          onChange: (value: string) => void}} options
 */
export function radios({ name, legend, choices, chosen, disabled = false, onChange }) {
  const group = html("fieldset", { class: "mission-radios", disabled }, html("legend", {}, legend));
  for (const [value, label] of choices) {
    const input = html("input", { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => onChange(value));
    group.append(html("label", {}, input, html("span", {}, label)));
  }
  return group;
}

/** Check what is chosen in a group. @param {ParentNode} within @param {string} name @param {string | null | undefined} chosen */
export function check(within, name, chosen) {
  for (const input of within.querySelectorAll(/** @type {"input"} */ (`input[name="${name}"]`)))
    input.checked = input.value === chosen;
}

/**
 * A slider over stops; what it is at is said in words.
 * @param {{name: string, label: string, choices: Choice[], chosen: string,
 *          onChange: (value: string) => void}} options
 */
export function stops({ name, label, choices, chosen, onChange }) {
  const input = html("input", { type: "range", id: name, min: 0, max: choices.length - 1, step: 1 });
  const shown = html("output", { for: name });
  const marks = choices.map(([value]) => html("span", {}, value));
  const made = html(
    "div",
    { class: "mission-stops" },
    html("label", { for: name }, label, " ", shown),
    input,
    html("div", { class: "mission-marks", "aria-hidden": "true" }, ...marks),
  );
  input.addEventListener("input", () => {
    const [value] = choices[Number(input.value)] ?? [""];
    stopAt(made, choices, value);
    onChange(value);
  });
  stopAt(made, choices, chosen);
  return made;
}

/** Let a slider be at what is chosen. @param {HTMLElement} slider @param {Choice[]} choices @param {string | undefined} chosen */
export function stopAt(slider, choices, chosen) {
  const at = choices.findIndex(([value]) => value === chosen);
  const [input, shown] = [slider.querySelector("input"), slider.querySelector("output")];
  if (!input || !shown) return;
  if (input.value !== String(at)) input.value = String(at);
  shown.textContent = choices[at]?.[1] ?? "";
  input.setAttribute("aria-valuetext", shown.textContent);
}

/**
 * A switch.
 * @param {{name: string, label: string, on: boolean, onChange: (on: boolean) => void}} options
 */
export function toggle({ name, label, on, onChange }) {
  const button = html("button", { type: "button", id: name, role: "switch", "aria-checked": String(on) }, label);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-checked") !== "true";
    button.setAttribute("aria-checked", String(now));
    onChange(now);
  });
  return html("div", { class: "mission-toggle" }, button);
}
