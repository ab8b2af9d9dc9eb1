// Beginning again: one act or the whole mission, after a question.

import { DECISIONS, browserRecord, readEntries, saveEntry } from "../record.js";
import { button, goTo, html } from "./draw.js";
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
  const cancel = button("Cancel", () => dialog.close(), "", { autofocus: true });
  const go = button(mission.text(`reset.${part}.do`), () => {
    dialog.close();
    reset(part, remove.checked);
    place.open = false;
  });
  const dialog = html("dialog", { class: "mission-dialog", "aria-labelledby": heading.id },
    heading,
    html("p", {}, mission.text(`reset.${part}.says`)),
    decided ? html("p", {}, html("label", {}, remove, " ", mission.text("reset.decision"))) : null,
    html("div", { class: "mission-buttons" }, cancel, go),
  );
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
