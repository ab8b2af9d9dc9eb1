// What the mission’s elements are made of: elements, lists, filled sentences, and the one place
// that turns values into pixels. One module, since every request counts.

import { finish, html } from "./state.js";

export { button, goTo, html } from "./state.js";

/** @typedef {import("./state.js").Child} Child */
/** @typedef {import("./state.js").Attributes} Attributes */
/** @typedef {import("./state.js").Chosen} Chosen */
/** @typedef {import("./state.js").Payload} Payload */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An SVG element.
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  return finish(document.createElementNS(SVG, tag), attributes, children);
}

/** A pattern on square tiles. @param {string} id @param {number} size @param {Attributes} more @param {Child[]} marks */
export const pattern = (id, size, more, ...marks) =>
  svg("pattern", { id, ...more, width: size, height: size, patternUnits: "userSpaceOnUse" }, ...marks);

/**
 * Where a value lies: the only arithmetic with the model's values that the browser does.
 * @param {number} value
 * @param {number} end the value at the end of the axis
 * @param {number} length its pixels
 */
export const pixels = (value, end, length) => Math.max(0, Math.min(length, (value / end) * length));

/**
 * A sentence with its blanks filled.
 * @param {string} template
 * @param {{[name: string]: string | number | undefined}} values
 */
export function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (blank, name) => String(values[name] ?? blank));
}

/** @typedef {[value: string, label: string]} Choice */

/** What a value of a control is called. @param {Choice[] | undefined} choices @param {string} value */
export const labelOf = (choices, value) => choices?.find(([each]) => each === value)?.[1] ?? value;

/** The regime that precision and bookkeeping name. @param {Chosen} chosen @param {Payload} payload @returns {string} */
export const regimeOf = ({ precision = "", bookkeeping = "" }, payload) => payload.regimes[precision][bookkeeping];

/** The key of a row of memory. @param {Chosen} chosen @param {Payload} payload */
export const keyOf = (chosen, payload) =>
  [regimeOf(chosen, payload), chosen.optimizer, chosen.recompute, chosen.batch].join("/");

/**
 * A list to choose from.
 * @param {{name: string, label: string, choices: Choice[], chosen: string | null, empty?: string,
 *          onChange: (value: string) => void}} options empty: what stands while nothing is chosen
 */
export function list({ name, label, choices, chosen, empty, onChange }) {
  const select = html("select", { id: name });
  if (empty !== undefined) select.append(new Option(empty, "", chosen === null, chosen === null));
  for (const [value, text] of choices) select.append(new Option(text, value, value === chosen, value === chosen));
  select.addEventListener("change", () => onChange(select.value));
  return html("div", { class: "mission-list" }, html("label", { for: name }, label), select);
}
