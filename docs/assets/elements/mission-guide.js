// <mission-guide>: where the learner stands, what is locked, and what went wrong with data or storage.
//
// It is at the head of the mission and opens and closes the parts of the page below it, each of
// which says in `data-mission-part` what it waits for. The two questions are checks of the page.

import { CHECKS, MISSION } from "./record.js";
import { CHANGED, FIRST, OPENS, QUESTIONS, STEPS, button, goTo, html, isOpen, mission, predict, whereNow } from "./mission/state.js";

/** @typedef {import("./mission/state.js").State} State */

// Where a part is opened, and what is there.
/** @type {{[need: string]: [id: string, name: string]}} */
const OPENED_AT = {
  "prediction-1": ["predict-1", "Go to the first prediction"],
  "reveal-1": ["reveal", "Go to the reveal"],
  "act-2": ["reflect-1", "Go to the Act 1 reflection"],
  "prediction-2": ["predict-2", "Go to the second prediction"],
  laptop: ["pipeline", "Go to the analyzer"],
};
// What has to be open before a part can be opened where it says.
/** @type {{[need: string]: string[]}} */
const WAITS_FOR = { "prediction-2": ["act-2"], laptop: ["act-2", "prediction-2"] };
const ALL_NUMBERS = /** @type {[string, string]} */ (["all-numbers", "Go to all numbers as tables"]);
/** @type {{1: string[], 2: string[]}} */
const STEP_PLACES = {
  1: ["predict-1", "ledger", "reveal", "reflect-1", "record"],
  2: ["predict-2", "pipeline", "walkthrough", "reflect-2", "record"],
};
// Two steps of the rhythm that one act takes in its own way.
const LAPTOP = /** @type {[string, string]} */ (["laptop", "the laptop challenge"]);
const RECORD_LATER = "after Act 2";
const INSTRUMENTS = "memory-ledger, pipeline-analyzer, laptop-challenge";
const STYLE = new URL("../mission/mission.css", import.meta.url).href;

/** Show what the browser keeps now; the data is fetched only if there is something to show. */
function takeUp() {
  if (mission.payload) mission.refresh();
  else if (mission.started) mission.open();
}

/** Show what the browser keeps now, after what is done here is kept too. */
function takeUpNow() {
  mission.save();
  mission.restore();
}

/** A check of the page was answered. @param {{id: string, value: number}} detail */
async function commit({ id, value }) {
  if (!QUESTIONS[id] || !(await mission.open())) return;
  mission.change((state) => predict(state, id, value));
  if (id === FIRST) mission.say(mission.text("recorded.1"));
}

/** Whether the data could not be had. */
const failed = () => !mission.payload && mission.trouble !== "";

/** A link that takes the focus along, which the site's instant navigation leaves behind. @param {[id: string, name: string]} place */
function link([id, name]) {
  const made = html("a", { href: `#${id}` }, name);
  made.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    goTo(id);
  });
  return made;
}

export class MissionGuide extends HTMLElement {
  /** @type {AbortController | undefined} */
  #listening;
  #status = html("p", { class: "mission-status" });
  #steps = html("ol", { class: "mission-steps" });
  #notices = html("div", { id: "mission-notices", class: "mission-notices", tabindex: -1 });
  #again = html("details", { class: "mission-again", hidden: true }, html("summary", {}, "Start again"));
  // The looks of the instruments. Instant navigation clears the head, so they are loaded in here.
  #looks = html("link", { rel: "stylesheet", href: STYLE });
  #noticed = "";
  #quiet = false;

  connectedCallback() {
    if (!this.#status.isConnected) this.#build();
    document.documentElement.dataset.missionGuide = "";
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    document.addEventListener(CHANGED, this.#draw, { signal });
    document.addEventListener("record-changed", takeUpNow, { signal });
    document.addEventListener("check-committed", (event) => commit(/** @type {CustomEvent} */ (event).detail), { signal });
    addEventListener("storage", ({ key }) => (key === MISSION || key === CHECKS || key === null) && takeUp(), { signal });
    addEventListener("pageshow", ({ persisted }) => persisted && takeUp(), { signal });
    addEventListener("pagehide", () => mission.save(), { signal });
    takeUp();
    this.#draw();
  }

  disconnectedCallback() {
    this.#listening?.abort();
    delete document.documentElement.dataset.missionGuide;
    mission.save();
  }

  #build() {
    const ask = async (/** @type {1 | 2 | "all"} */ part) => (await import("./mission/reset.js")).askToReset(this.#again, part);
    const act = (/** @type {1 | 2} */ number) => button(`Reset Act ${number}`, () => ask(number));
    const all = button("Reset mission", () => ask("all"));
    this.#again.append(html("div", { class: "mission-buttons" }, act(1), act(2), all));
    const live = html("p", { class: "mission-live", role: "status" });
    this.replaceChildren(this.#status, this.#steps, this.#notices, this.#again, live);
  }

  #draw = () => {
    if (!this.#looks.isConnected && (mission.payload || mission.started || failed())) this.prepend(this.#looks);
    for (const part of document.querySelectorAll("[data-mission-part]"))
      lock(/** @type {HTMLElement} */ (part));
    document.getElementById(FIRST)?.toggleAttribute("waits", !isOpen(mission.state, "reveal-1"));
    this.#showWhere();
    this.#showNotices();
    this.#again.hidden = !mission.state || mission.keepsForeign;
    const tables = failed() && document.querySelector("details.all-numbers");
    if (tables) tables.setAttribute("open", "");
  };

  #showWhere() {
    const { state } = mission;
    const { act, step } = whereNow(state);
    const complete = act === 2 && step === STEPS.length - 1 && state?.completed_at;
    const target = state && isOpen(state, "prediction-2") ? state.act2.target_reached : null;
    const words = !target ? "not reached yet" : state && leftAgain(state) ? "reached, not with these settings" : "reached";
    const flag = failed() ? "Instruments closed" : mission.keepsForeign || !mission.lasting ? "Not kept" : "";
    const place = (/** @type {number} */ index) => link([STEP_PLACES[act][index] ?? "", STEPS[index] ?? ""]);
    const line = complete ? ["Mission complete"] : [html("strong", {}, `Act ${act}`), ` · Step ${step + 1} of ${STEPS.length}: `, place(step)];
    if (!complete && act === 2 && STEPS[step] === "Reveal") line.push(", then ", link(LAPTOP));
    if (target !== null) line.push(` · Target ${words}`);
    if (flag) line.push(" · ", link(["mission-notices", flag]));
    redraw(this.#status, line);
    this.#steps.setAttribute("aria-label", `The steps of Act ${act}`);
    const steps = STEPS.map((_, index) => {
      const says = complete || index < step ? "done" : index === step ? "now" : "to come";
      const words = act === 1 && STEPS[index] === "Record" ? RECORD_LATER : says;
      return html("li", { "aria-current": says === "now" && "step", "data-step": says }, place(index), " ", html("span", {}, words));
    });
    redraw(this.#steps, steps);
  }

  #showNotices() {
    const { keepsForeign, lasting, state, trouble } = mission;
    const skippable = state?.completed_at && !isOpen(state, "act-2");
    const now = JSON.stringify([trouble, keepsForeign, lasting, skippable, this.#quiet]);
    if (now === this.#noticed) return;
    this.#noticed = now;
    const notices = [];
    if (failed()) notices.push(notice("red", "The instruments are closed.", trouble, button("Try again", () => mission.open())));
    else if (keepsForeign) notices.push(this.#foreign(trouble));
    else if (trouble) notices.push(notice("amber", "Nothing was changed.", trouble));
    if (!lasting && !keepsForeign)
      notices.push(notice("amber", "What you do now is not kept.", "Your browser refuses to keep it: it ends when you close the page. What was kept before stays. Export still works."));
    if (skippable)
      notices.push(notice("", "You have completed this mission before.", "Act 2 can be opened at once.", button("Skip to Act 2", skip)));
    this.#notices.replaceChildren(...notices);
  }

  /** What is in storage and cannot be read. @param {string} trouble */
  #foreign(trouble) {
    const answer = (/** @type {() => void} */ act) => () => {
      act();
      this.#notices.focus();
    };
    const fresh = button("Start fresh", answer(() => mission.startFresh()));
    const closed = "Until you start fresh, nothing that you do here is kept.";
    if (this.#quiet) return notice("amber", "Nothing is kept.", closed, fresh);
    const keep = button("Keep for now", answer(() => {
      this.#quiet = true;
      this.#showNotices();
    }));
    const choice = `${closed} If you do, what cannot be read is put aside, and not deleted.`;
    return notice("amber", "There is something from elsewhere.", `${trouble} ${choice}`, fresh, keep);
  }
}

/** Whether the analyzer is at settings that do not reach the target. @param {State} state */
function leftAgain({ act2: { controls } }) {
  const { payload } = mission;
  if (!payload) return false;
  const { prefetch, mixed, checkpointing, batch, tensor_effect } = controls;
  const row = payload.pipeline[[prefetch, mixed, checkpointing, batch, tensor_effect].join("/")];
  return row?.target !== "reached" || tensor_effect !== payload.controls.pipeline?.tensor_effect?.default;
}

/** Put new children into an element unless they say the same, so that no focus is lost. @param {Element} element @param {(Node | string)[]} children */
function redraw(element, children) {
  const made = /** @type {Element} */ (element.cloneNode(false));
  made.append(...children);
  if (made.innerHTML !== element.innerHTML) element.replaceChildren(...made.childNodes);
}

/** @param {string} look @param {string} title @param {string} says @param {HTMLButtonElement[]} buttons */
function notice(look, title, says, ...buttons) {
  const role = look === "" ? undefined : look === "red" ? "alert" : "status";
  const row = buttons.length ? html("div", { class: "mission-buttons" }, ...buttons) : null;
  return html("div", { class: `mission-banner ${look}`.trim(), role }, html("p", {}, html("strong", {}, title), " ", says), row);
}

function skip() {
  mission.change((state) => {
    state.skipped = true;
  });
  goTo("predict-2");
}

/** The words of a lock, where it stands first on the page. @param {string} need */
const lockOf = (need) => /** @type {HTMLElement | null} */ (document.querySelector(`[data-mission-part="${need}"]`))?.dataset.lock;

/** Open a part of the page, or put a notice in its place. @param {HTMLElement} part */
function lock(part) {
  const need = part.dataset.missionPart ?? "";
  const first = WAITS_FOR[need]?.find((one) => !isOpen(mission.state, one)) ?? need;
  const place = OPENED_AT[first];
  if (!OPENS[need] || !place) throw new Error(`no lock is called ${need}`);
  const open = isOpen(mission.state, need);
  const says = first === need ? part.dataset.lock : lockOf(first);
  part.toggleAttribute("data-open", open);
  part.toggleAttribute("inert", !open);
  const before = part.previousElementSibling;
  const stands = before?.matches(".mission-lock") ? before : null;
  if (open) return stands?.remove();
  const frame = stands ?? html("div", { class: `mission-lock${part.querySelector(INSTRUMENTS) ? " instrument" : ""}` });
  const closed = html("p", {}, "Closed: its numbers could not be loaded. ", link(ALL_NUMBERS));
  redraw(frame, [failed() ? closed : html("p", {}, says ?? "Locked.", " ", link(place))]);
  if (!stands) part.before(frame);
}
