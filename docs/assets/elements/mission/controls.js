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

/**
 * A slider over stops; what it stands at is said in words.
 * @param {{name: string, label: string, choices: Choice[], chosen: string,
 *          onChange: (value: string) => void}} options
 */
export function stops({ name, label, choices, chosen, onChange }) {
  const at = choices.findIndex(([value]) => value === chosen);
  const input = html("input", { type: "range", id: name, min: 0, max: choices.length - 1, step: 1, value: at });
  const says = () => choices[Number(input.value)] ?? ["", ""];
  const shown = html("output", { for: name }, says()[1]);
  input.setAttribute("aria-valuetext", says()[1]);
  input.addEventListener("input", () => {
    const [value, text] = says();
    input.setAttribute("aria-valuetext", text);
    shown.textContent = text;
    onChange(value);
  });
  const marks = choices.map(([value]) => html("span", {}, value));
  return html(
    "div",
    { class: "mission-stops" },
    html("label", { for: name }, label, " ", shown),
    input,
    html("div", { class: "mission-marks", "aria-hidden": "true" }, ...marks),
  );
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
