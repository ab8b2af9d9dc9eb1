// Wakes up what a page has: each custom element is loaded where it is used, and defined once.

import { noteVisit } from "./elements/progress.js";

/** @type {{[tag: string]: () => Promise<CustomElementConstructor>}} */
const elements = {
  "continue-reading": async () => (await import("./elements/continue-reading.js")).ContinueReading,
  "learner-record": async () => (await import("./elements/learner-record.js")).LearnerRecord,
  "lesson-check": async () => (await import("./elements/lesson-check.js")).LessonCheck,
};

/** Mend parts of Material: a role without a name, and tables that only a mouse can scroll. */
function completeTheme() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const buttons of document.querySelectorAll(".md-code__nav")) {
    buttons.setAttribute("role", "group");
    buttons.setAttribute("aria-label", "Code");
  }
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (table.scrollWidth > table.clientWidth) table.setAttribute("tabindex", "0");
    else table.removeAttribute("tabindex");
  }
}

async function onPage() {
  noteVisit(document);
  for (const [tag, load] of Object.entries(elements)) {
    if (!document.querySelector(tag)) continue;
    const element = await load();
    if (!customElements.get(tag)) customElements.define(tag, element);
  }
}

// Material calls this on the first page and after each instant navigation.
const pages = /** @type {{document$?: {subscribe(next: () => void): void}}} */ (globalThis).document$;
if (pages) pages.subscribe(onPage);
else onPage();

// Material adds its buttons and the boxes around tables late, so this watches for them.
new MutationObserver(completeTheme).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", completeTheme);
completeTheme();
