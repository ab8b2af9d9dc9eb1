// Beginning again: one act or the whole mission, after a question.

import { DECISIONS, browserRecord, readEntries, saveEntry } from "../record.js";
import { goTo, html } from "./draw.js";
import { mission } from "./state.js";

/** @typedef {1 | 2 | "all"} Part */

const CHAPTER = "8";

/**
 * Ask before anything is cleared.
 * @param {HTMLDetailsElement} place where the buttons stand; it is closed after a reset
 * @param {Part} part
 */
export function askToReset(place, part) {
  const heading = html("h2", { id: "mission-reset" }, mission.text(`reset.${part}.title`));
  const decided = part === "all" && readEntries(browserRecord().store, DECISIONS)[CHAPTER];
  const remove = html("input", { type: "checkbox" });
  const cancel = html("button", { type: "button", class: "md-button", autofocus: true }, "Cancel");
  const go = html("button", { type: "button", class: "md-button" }, mission.text(`reset.${part}.do`));
  const dialog = html("dialog", { class: "mission-dialog", "aria-labelledby": heading.id },
    heading,
    html("p", {}, mission.text(`reset.${part}.says`)),
    decided ? html("p", {}, html("label", {}, remove, " ", mission.text("reset.decision"))) : null,
    html("div", { class: "mission-buttons" }, cancel, go),
  );
  cancel.addEventListener("click", () => dialog.close());
  go.addEventListener("click", () => {
    dialog.close();
    reset(part, remove.checked);
    place.open = false;
  });
  dialog.addEventListener("close", () => dialog.remove());
  place.after(dialog);
  dialog.showModal();
}

/** @param {Part} part @param {boolean} withDecision */
function reset(part, withDecision) {
  mission.reset(part);
  if (withDecision) saveEntry(browserRecord().store, DECISIONS, CHAPTER, null);
  goTo(part === "all" ? "mission" : `predict-${part}`);
  mission.say(mission.text(`reset.${part}.done`));
}
