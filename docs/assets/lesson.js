// Wakes up what a page has: each custom element is loaded where it is used, and defined once.

import { CARD, MACHINE, PROGRESS, ROOT, addressOf, browserRecord, readEntries, saveEntry, visitOf } from "./elements/record.js";

/** @type {{[tag: string]: () => Promise<object>}} */
const elements = {
  "compare-machine": () => import("./elements/compare-machine.js"),
  "continue-reading": () => import("./elements/continue-reading.js"),
  "float-switches": () => import("./elements/float-switches.js"),
  "forecast-gpu": () => import("./elements/forecast-gpu.js"),
  "gradient-scale": () => import("./elements/gradient-scale.js"),
  "interactive-chart": () => import("./elements/interactive-chart.js"),
  "kept-tasks": () => import("./elements/kept-tasks.js"),
  "laptop-challenge": () => import("./elements/laptop-challenge.js"),
  "learner-record": () => import("./elements/learner-record.js"),
  "lesson-check": () => import("./elements/lesson-check.js"),
  "loop-switches": () => import("./elements/loop-switches.js"),
  "machine-filter": () => import("./elements/machine-filter.js"),
  "memory-ledger": () => import("./elements/memory-ledger.js"),
  "memory-table": () => import("./elements/memory-table.js"),
  "mission-guide": () => import("./elements/mission-guide.js"),
  "mission-record": () => import("./elements/mission-record.js"),
  "mission-reflection": () => import("./elements/mission-reflection.js"),
  "mission-reveal": () => import("./elements/mission-reveal.js"),
  "mission-tradeoff": () => import("./elements/mission-tradeoff.js"),
  "own-report": () => import("./elements/own-report.js"),
  "pipeline-analyzer": () => import("./elements/pipeline-analyzer.js"),
  "quiz-summary": () => import("./elements/quiz-summary.js"),
  "race-gpu": () => import("./elements/race-gpu.js"),
  "reader-card": () => import("./elements/reader-card.js"),
  "run-cell": () => import("./elements/run-cell.js"),
  "training-timeline": () => import("./elements/training-timeline.js"),
  "walkthrough-column": () => import("./elements/walkthrough-column.js"),
  "who-first": () => import("./elements/who-first.js"),
};

/** Mend parts of Material: a role without a name, and wide things that only a mouse can scroll. */
function completeTheme() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  // A landmark for the one button of each listing leads nowhere.
  for (const buttons of document.querySelectorAll(".md-code__nav")) buttons.setAttribute("role", "none");
  for (const page of document.querySelectorAll(".md-nav__container > a")) {
    const section = page.closest(".md-nav__item")?.querySelector(":scope > nav");
    section?.removeAttribute("aria-labelledby"); // Material names it by an icon
    section?.setAttribute("aria-label", page.textContent?.trim() ?? "");
  }
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, .check-lines")) {
    if (wide.scrollWidth > wide.clientWidth) wide.setAttribute("tabindex", "0");
    else wide.removeAttribute("tabindex");
  }
}

/** Keep in the learner's record that this page was opened, and tick such pages in the navigation. */
function noteVisit() {
  const heading = /** @type {Element | undefined} */ (document.querySelector("h1")?.cloneNode(true));
  heading?.querySelector(".headerlink")?.remove();
  const visit = visitOf(location.href, ROOT, heading?.textContent?.trim() ?? "");
  const { store } = browserRecord();
  const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll(".md-nav--primary a.md-nav__link")]);
  const addresses = links.map(({ href }) => addressOf(href, ROOT));
  if (visit) {
    const place = [...new Set(addresses)].indexOf(visit.address); // links to headings repeat their page
    saveEntry(store, PROGRESS, visit.address, { title: visit.title, at: new Date().toISOString(), place });
  }
  const opened = readEntries(store, PROGRESS);
  links.forEach((link, index) => link.classList.toggle("opened", Object.hasOwn(opened, addresses[index] ?? "")));
}

/** Keep to which heading of the page the reader came. */
function noteHeading() {
  const { store } = browserRecord();
  const address = addressOf(location.href, ROOT);
  const entry = readEntries(store, PROGRESS)[address];
  if (!entry) return;
  const headings = [...document.querySelectorAll("article :is(h2, h3)[id]")];
  const passed = headings.filter((each) => each.checkVisibility() && each.getBoundingClientRect().top < innerHeight / 2);
  saveEntry(store, PROGRESS, address, { ...entry, heading: passed.at(-1)?.id ?? "" });
}
addEventListener("scrollend", noteHeading);

/** Load an element's module and define it: `run-cell` by its class `RunCell`. @param {string} tag */
async function wake(tag) {
  const found = /** @type {{[name: string]: CustomElementConstructor} | undefined} */ (await elements[tag]?.());
  const element = found?.[tag.replace(/(^|-)./g, (start) => start.slice(-1).toUpperCase())];
  if (element && !customElements.get(tag)) customElements.define(tag, element);
}

// These are far down on long pages, or whole in HTML: anyone who does not get there need not load them.
const LATE = [
  "lesson-check",
  ...["interactive-chart", "laptop-challenge", "memory-ledger", "memory-table", "mission-record"],
  ...["mission-reflection", "mission-reveal", "mission-tradeoff", "own-report", "pipeline-analyzer"],
  ...["training-timeline", "walkthrough-column"],
];

/** A button for each snippet that can run here; what runs it comes with the first press. */
function offerRuns() {
  for (const figure of document.querySelectorAll("figure[data-run]:not(:has(run-cell))")) {
    const cell = document.createElement("run-cell");
    const button = document.createElement("button");
    const size = Math.max(1, Math.round(Number(figure.getAttribute("data-run-kb")) / 1000));
    const textContent = `Run (loads ${size} MB once)`;
    Object.assign(button, { type: "button", className: "chart-switch", textContent });
    let waking = false; // what is pressed meanwhile is not meant for what comes
    button.onclick = async ({ detail }) => {
      if (waking) return;
      waking = true;
      await wake("run-cell").finally(() => (waking = false));
      /** @type {import("./elements/run-cell.js").RunCell} */ (cell).press(detail);
    };
    cell.append(button);
    figure.querySelector("figcaption")?.before(cell);
  }
}

// These are whole in HTML. They come when somebody chooses something in them, and are told what; or at
// once, where the record has something to show in them.
const USED = ["forecast-gpu", "reader-card"];
document.addEventListener("change", async ({ target }) => {
  const part = /** @type {HTMLSelectElement} */ (target);
  const used = part.closest(USED.join());
  const { value } = part;
  if (!used) return;
  await wake(used.localName);
  /** @type {import("./elements/reader-card.js").ReaderCard} */ (used).use(part, value);
});

/** Whether the record has a card or a machine of the reader's. */
const hasOwn = () => [CARD, MACHINE].some((key) => browserRecord().store.getItem(key) !== null);

// Importing or forgetting the record, here or in another window, changes the card too.
const tellCard = () => dispatchEvent(new Event("card-changed"));
document.addEventListener("record-changed", tellCard);
addEventListener("storage", ({ key }) => [CARD, null].includes(key) && tellCard());
// Whatever follows the card has to be awake when it is chosen elsewhere on the page.
addEventListener("card-changed", () => {
  for (const tag of USED) if (document.querySelector(tag)) wake(tag);
});

const SEEN = ["float-switches", "gradient-scale"]; // these leave room for their controls

/** @param {IntersectionObserverEntry[]} entries */
const wakeWhatComes = (entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) wake(target.localName);
};
const arrivals = new IntersectionObserver(wakeWhatComes, { rootMargin: "800px" });
const sights = new IntersectionObserver(wakeWhatComes);

// Material shows the next page at the old place, if that still moved when the link was followed.
let followed = false;
for (const type of ["click", "popstate"]) {
  addEventListener(type, ({ target }) => (followed = !!(/** @type {Element} */ (target).closest?.("a"))), true);
}

async function onPage() {
  if (followed) (document.getElementById(location.hash.slice(1)) ?? document.body).scrollIntoView();
  noteVisit();
  offerRuns();
  arrivals.disconnect();
  sights.disconnect();
  for (const tag of Object.keys(elements)) {
    const found = document.getElementsByTagName(tag);
    if (tag === "run-cell") continue; // woken by its button
    if (USED.includes(tag) && !hasOwn()) continue;
    const waits = LATE.includes(tag) && !(tag === "interactive-chart" && hasOwn());
    if (SEEN.includes(tag)) for (const each of found) sights.observe(each);
    else if (waits) for (const each of found) arrivals.observe(each);
    else if (found.length) await wake(tag);
  }
}

// Material calls this on the first page and after each instant navigation.
const pages = /** @type {{document$?: {subscribe(next: () => void): void}}} */ (globalThis).document$;
if (pages) pages.subscribe(onPage);
else onPage();

// Asking how wide something is makes the browser lay the page out, so that is done once a frame.
let nextFrame = 0;
const completeSoon = () => {
  nextFrame ||= requestAnimationFrame(() => {
    nextFrame = 0;
    completeTheme();
  });
};

// Material adds its buttons and the boxes around tables late, so this watches for them.
new MutationObserver(completeSoon).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", completeSoon);
completeSoon();
