// What the mission's elements are made of: elements, controls, filled sentences, and the one place
// that turns values into pixels. One module, since every request counts.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | null | undefined} Child */
/** @typedef {{[name: string]: string | number | boolean | undefined}} Attributes */

/**
 * An HTML element. An attribute that is false or undefined is left out; true stands alone.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function html(tag, attributes = {}, ...children) {
  return finish(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  return finish(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} Made
 * @param {Made} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {Made}
 */
function finish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

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

/** Move the focus, and the page, to a heading. @param {string} id */
export function goTo(id) {
  const heading = document.getElementById(id);
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView();
}

// Controls. All are native, so keyboard and screen reader know them.

/** @typedef {[value: string, label: string]} Choice */

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
