// The second question, which is asked when Act 2 opens.

import { fill, goTo, html } from "./draw.js";
import { mission } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Payload} Payload */

/** A percentage as it was typed, without the sign that may stand behind. @param {string} text */
const withoutSign = (text) => text.trim().replace("\u2212", "-").replace(/\s*%$/, "");

/**
 * What is wrong with a typed percentage: a key of `payload.predictions.percent.errors`, or null.
 * @param {string} text
 * @param {{least: number, most: number}} bounds
 */
export function percentProblem(text, { least, most }) {
  const typed = withoutSign(text);
  if (typed === "") return "empty";
  if (!/^[+-]?\d+$/.test(typed)) return "whole";
  return Number(typed) < least || Number(typed) > most ? "range" : null;
}

/**
 * The second question: a percentage, which is checked as it is typed.
 * @param {HTMLElement} host
 * @param {Payload} payload
 */
export function percentQuestion(host, { predictions: { percent } }) {
  const input = html("input", { id: "predicted-percent", type: "text", inputmode: "numeric", autocomplete: "off", "aria-describedby": "percent-question percent-error" });
  const error = html("p", { id: "percent-error", class: "mission-error" });
  const locks = html("button", { type: "submit", class: "md-button md-button--primary", disabled: true }, "Lock in my prediction");
  const row = html("div", { class: "mission-buttons" }, locks);
  const says = html("p", { class: "mission-line" });
  const recorded = html("p", { class: "mission-recorded" });
  const field = html("div", { class: "mission-field" }, html("label", { for: input.id }, "Your prediction, in percent"), input, error);
  const form = html("form", { class: "mission-percent", novalidate: true }, html("p", { id: "percent-question", class: "mission-question" }, percent.question), field, row);
  host.replaceChildren(form, says, recorded);

  const judge = () => {
    const problem = percentProblem(input.value, percent);
    locks.disabled = problem !== null;
    input.toggleAttribute("aria-invalid", false);
    if (problem) input.setAttribute("aria-invalid", "true");
    const words = problem === null ? "" : percent.errors[problem];
    if (words && words !== error.textContent) mission.say(words);
    error.textContent = words;
  };
  input.addEventListener("input", judge);
  input.addEventListener("blur", () => input.readOnly || judge());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (locks.disabled || input.readOnly) return;
    const prediction = Number(withoutSign(input.value));
    mission.change(({ act2 }) => {
      act2.prediction = prediction;
      act2.locked_at = new Date().toISOString();
    });
    goTo("pipeline");
    mission.say(fill(mission.text("recorded.2"), { percent: prediction }));
  });

  let wasLocked = false;
  return {
    /** @param {State | null} state */
    update(state) {
      const guess = state?.act2.locked_at ? state.act2.prediction : null;
      const locked = guess !== null && guess !== undefined;
      input.readOnly = locked;
      if (locked || wasLocked) input.value = locked ? String(guess) : "";
      if (locked !== wasLocked) {
        locks.disabled = true;
        input.removeAttribute("aria-invalid");
        error.textContent = "";
      }
      row.hidden = locked;
      says.textContent = locked ? percent.feedback[guess] : "";
      recorded.textContent = locked ? mission.text("recorded") : "";
      wasLocked = locked;
    },
  };
}
