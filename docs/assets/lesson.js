// Wakes up what a page has: each custom element is loaded where it is used, and defined once.

import { CARD, MACHINE, PROGRESS, ROOT, addressOf, browserRecord, readEntries, saveEntry, visitOf } from "./elements/record.js";

/** @type {{[tag: string]: () => Promise<CustomElementConstructor>}} */
const elements = {
  "compare-machine": async () => (await import("./elements/compare-machine.js")).CompareMachine,
  "continue-reading": async () => (await import("./elements/continue-reading.js")).ContinueReading,
  "float-switches": async () => (await import("./elements/float-switches.js")).FloatSwitches,
  "forecast-gpu": async () => (await import("./elements/forecast-gpu.js")).ForecastGpu,
  "gradient-scale": async () => (await import("./elements/gradient-scale.js")).GradientScale,
  "interactive-chart": async () => (await import("./elements/interactive-chart.js")).InteractiveChart,
  "kept-tasks": async () => (await import("./elements/kept-tasks.js")).KeptTasks,
  "laptop-challenge": async () => (await import("./elements/laptop-challenge.js")).LaptopChallenge,
  "learner-record": async () => (await import("./elements/learner-record.js")).LearnerRecord,
  "lesson-check": async () => (await import("./elements/lesson-check.js")).LessonCheck,
  "loop-switches": async () => (await import("./elements/loop-switches.js")).LoopSwitches,
  "machine-filter": async () => (await import("./elements/machine-filter.js")).MachineFilter,
  "memory-ledger": async () => (await import("./elements/memory-ledger.js")).MemoryLedger,
  "memory-table": async () => (await import("./elements/memory-table.js")).MemoryTable,
  "mission-guide": async () => (await import("./elements/mission-guide.js")).MissionGuide,
  "mission-record": async () => (await import("./elements/mission-record.js")).MissionRecord,
  "mission-reflection": async () => (await import("./elements/mission-reflection.js")).MissionReflection,
  "mission-reveal": async () => (await import("./elements/mission-reveal.js")).MissionReveal,
  "mission-tradeoff": async () => (await import("./elements/mission-tradeoff.js")).MissionTradeoff,
  "own-report": async () => (await import("./elements/own-report.js")).OwnReport,
  "pipeline-analyzer": async () => (await import("./elements/pipeline-analyzer.js")).PipelineAnalyzer,
  "quiz-summary": async () => (await import("./elements/quiz-summary.js")).QuizSummary,
  "race-gpu": async () => (await import("./elements/race-gpu.js")).RaceGpu,
  "reader-card": async () => (await import("./elements/reader-card.js")).ReaderCard,
  "run-cell": async () => (await import("./elements/run-cell.js")).RunCell,
  "training-timeline": async () => (await import("./elements/training-timeline.js")).TrainingTimeline,
  "walkthrough-column": async () => (await import("./elements/walkthrough-column.js")).WalkthroughColumn,
  "who-first": async () => (await import("./elements/who-first.js")).WhoFirst,
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

/** Load an element's module and define it. @param {string} tag */
async function wake(tag) {
  const element = await elements[tag]?.();
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

async function onPage() {
  goToTarget();
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

// A tenth of a second after the last scroll Material writes down where the reader was, also if a link was
// followed meanwhile: then the next page is shown at the old one's place, and not at its top or heading.
let followed = false;
addEventListener("click", ({ target }) => (followed = target instanceof Element && target.closest("a") !== null), true);
addEventListener("popstate", () => (followed = false));

/** Show what a followed link leads to. */
function goToTarget() {
  if (!followed) return;
  followed = false;
  const target = document.getElementById(location.hash.slice(1));
  if (target) target.scrollIntoView();
  else scrollTo(0, 0);
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
