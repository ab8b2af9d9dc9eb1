// The mission's state: what the learner decided and where the instruments stand. It is kept under
// one entry of the learner's record; stored.js checks it in full before anything of it is shown.

import { CHECKS, MISSION, browserRecord, isObject, keepDamaged, readEntries, saveEntry } from "../record.js";

/** @typedef {{values: [string, string][], default: string}} Control */
/** @typedef {{[name: string]: Control}} Controls */
/** @typedef {{[name: string]: string}} Chosen */
/**
 * What lesson_site/mission/payload.py writes; each instrument says in its own file what it reads.
 * @typedef {{schema_version: number, model_version: string, controls: {[instrument: string]: Controls},
 *   components: [string, string][], messages: {[id: string]: string}, [part: string]: any}} Payload
 */
/** @typedef {import("./stored.js").Move} Move */
/** @typedef {import("./stored.js").Recorded} Recorded */
/** @typedef {import("./stored.js").State} State */

export const NAME = "memory-mfu";
export const MOST_MOVES = 200;
export const LONGEST_REASON = 200;

// The two checks of the page that ask for a prediction, and the act that begins with each.
export const FIRST = "adam-extra-memory";
const SECOND = "gpu-compute-share";
/** @type {{[id: string]: "act1" | "act2"}} */
export const QUESTIONS = { [FIRST]: "act1", [SECOND]: "act2" };
export const LETTERS = "ABCD"; // the choices of the first, as the mission keeps them

/** Take over the answer to a check. @param {State} state @param {string} id @param {number} value */
export function predict({ act1, act2 }, id, value, at = new Date().toISOString()) {
  const whole = Number(value.toFixed());
  if (id === SECOND && whole >= 0 && whole <= 100) Object.assign(act2, { prediction: whole, locked_at: at });
  const letter = id === FIRST && LETTERS[value - 1];
  if (letter) Object.assign(act1, { prediction: letter, locked_at: at });
}

// What is open, and where the learner stands.

/**
 * What a part of the page waits for. A part says it in `data-mission-part`.
 * @type {{[need: string]: (state: State) => boolean}}
 */
export const OPENS = {
  "prediction-1": ({ act1 }) => act1.locked_at !== null,
  "reveal-1": ({ act1 }) => act1.revealed,
  "act-2": (state) => actTwo(state),
  "prediction-2": (state) => actTwo(state) && state.act2.locked_at !== null,
  laptop: (state) => actTwo(state) && state.act2.locked_at !== null && (state.act2.target_reached || state.laptop.early),
};

/** @param {State} state */
const actTwo = ({ act1, skipped }) => skipped || (act1.revealed && act1.reflection.checked);

/** Whether a part is open. @param {State | null} state @param {string} need */
export const isOpen = (state, need) => state !== null && Boolean(OPENS[need]?.(state));

// The rhythm of both acts, shown as a list that stays visible.
export const STEPS = ["Predict", "Explore", "Reveal", "Reflect", "Record"];

/**
 * Which act and which step comes next.
 * @param {State | null} state
 * @returns {{act: 1 | 2, step: number}} the step counts from 0
 */
export function whereNow(state) {
  if (!state || !actTwo(state)) {
    if (!state?.act1.locked_at) return { act: 1, step: 0 };
    return { act: 1, step: state.act1.revealed ? 3 : state.act1.seen.length > 1 ? 2 : 1 };
  }
  const { act2, laptop } = state;
  if (!act2.locked_at) return { act: 2, step: 0 };
  if (!act2.target_reached && !laptop.early) return { act: 2, step: 1 };
  if (!laptop.quantify.checked) return { act: 2, step: 2 };
  return { act: 2, step: act2.reflection.checked && act2.reflection.choice_checked ? 4 : 3 };
}

export const CHANGED = "mission-changed";
const PAYLOAD = new URL("../../mission/memory-mfu.json", import.meta.url);
const PAYLOAD_VERSION = 1;
const PAYLOAD_PARTS = ["controls", "ledger", "laptop", "messages", "pipeline", "predictions", "reflections"];
const NO_PAYLOAD =
  "The mission’s numbers could not be loaded, so its instruments stay closed, and what you kept is untouched. " +
  "Its tables are at the end of this page.";
const SAVE_AFTER_MS = 250;
const SAY_AFTER_MS = 300;

/** @param {unknown} value @returns {value is Payload} */
const isPayload = (value) =>
  isObject(value) &&
  value.schema_version === PAYLOAD_VERSION &&
  Array.isArray(value.components) &&
  PAYLOAD_PARTS.every((part) => isObject(value[part]));

/** The one mission of this window; it says `mission-changed` on the document. */
class Mission {
  /** @type {Payload | null} */
  payload = null;
  /** @type {State | null} */
  state = null;
  /** What is in the way, as a sentence: data that cannot be had, or a state that cannot be read. */
  trouble = "";
  /** Whether a state that cannot be read stays where it is, so that nothing is written. */
  keepsForeign = false;
  /** Whether the browser keeps what is done. */
  lasting = true;
  /** What reads a kept state, once it is needed. @type {typeof import("./stored.js") | undefined} */
  #stored;
  /** @type {Promise<boolean> | undefined} */
  #opening;
  /** Whether something was changed that is not kept yet. */
  #unsaved = false;
  #saving = 0;
  #saying = 0;

  /** Whether the browser keeps something, so that the mission has to open at once. */
  get started() {
    try {
      const { store } = browserRecord();
      return store.getItem(MISSION) !== null || Object.keys(QUESTIONS).some((id) => readEntries(store, CHECKS)[id]);
    } catch {
      return false;
    }
  }

  /** Fetch the data, and take up what is kept. @returns {Promise<boolean>} whether it worked */
  async open() {
    const opened = await (this.#opening ??= this.#open());
    if (!opened) this.#opening = undefined;
    return opened;
  }

  async #open() {
    try {
      const [answer, stored] = await Promise.all([fetch(PAYLOAD), import("./stored.js")]);
      const payload = answer.ok ? /** @type {unknown} */ (await answer.json()) : null;
      if (!isPayload(payload)) throw new Error("no data that this page can show");
      this.payload = payload;
      this.#stored = stored;
    } catch {
      this.trouble = NO_PAYLOAD;
      this.#tell();
      return false;
    }
    this.restore();
    return true;
  }

  /** Take up what the browser keeps now, in place of all that is here. */
  restore() {
    if (!this.payload || !this.#stored) return;
    this.#settle(false);
    const { store, lasting } = browserRecord();
    const { state, problem } = this.#stored.kept(store, this.payload);
    this.lasting = lasting;
    this.keepsForeign = problem !== "";
    this.trouble = problem && `What your browser kept of this mission ${problem}, so it was left alone.`;
    this.state = state ?? this.#stored.fresh(this.payload);
    if (this.#stored.agree(store, this.state)) document.dispatchEvent(new Event("record-changed"));
    this.#tell();
  }

  /** Take up what another window or page kept, unless something here is not kept yet. */
  refresh() {
    if (!this.#unsaved) this.restore();
  }

  /** Give up what could not be read; it stays under a name of its own. */
  startFresh() {
    const { store } = browserRecord();
    try {
      keepDamaged(store, MISSION, store.getItem(MISSION) ?? "");
    } catch {
      this.trouble = "Your browser has no room to put aside what could not be read, so it was left alone.";
      return this.#tell();
    }
    this.keepsForeign = false;
    this.trouble = "";
    this.change(() => {});
    this.save();
  }

  /** Change the state, keep it, and tell every element. @param {(state: State) => void} recipe */
  change(recipe) {
    if (!this.state) return;
    const next = structuredClone(this.state);
    recipe(next);
    this.state = next;
    this.#settle(!this.keepsForeign);
    this.#saving = setTimeout(() => this.save(), SAVE_AFTER_MS);
    this.#tell();
  }

  /** Keep now what was changed, unless something that cannot be read is there. */
  save() {
    clearTimeout(this.#saving);
    if (!this.state || !this.#unsaved) return;
    this.#keep({ ...this.state, at: new Date().toISOString() });
  }

  /** @param {import("../record.js").Entry | null} entry null: nothing is kept any more */
  #keep(entry) {
    const { store, lasting } = browserRecord();
    const saved = saveEntry(store, MISSION, NAME, entry);
    if (saved && store.getItem(MISSION) === "{}") store.removeItem(MISSION);
    this.#settle(!saved);
    if ((saved && lasting) === this.lasting) return;
    this.lasting = saved && lasting;
    this.#tell();
  }

  /** @param {boolean} unsaved */
  #settle(unsaved) {
    clearTimeout(this.#saving);
    this.#unsaved = unsaved;
  }

  /** Begin again: one act, or all of it, and then nothing is kept. @param {1 | 2 | "all"} part */
  reset(part) {
    const start = this.payload && this.#stored?.fresh(this.payload);
    if (!start) return;
    const { store } = browserRecord();
    const questions = Object.keys(QUESTIONS).filter((id) => part === "all" || QUESTIONS[id] === `act${part}`);
    for (const id of questions) saveEntry(store, CHECKS, id, null);
    this.change((state) => {
      if (part !== 2) Object.assign(state, { act1: start.act1, skipped: false });
      if (part === 1) return;
      Object.assign(state, { act2: start.act2, laptop: start.laptop });
      if (part === "all") state.completed_at = null;
    });
    if (part === "all" && !this.keepsForeign) this.#keep(null);
    this.save();
    document.dispatchEvent(new Event("record-changed")); // the checks ask again
  }

  /** Say a sentence to screen readers, once the learner has stopped changing things. @param {string} text */
  say(text) {
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => {
      const place = document.querySelector("mission-guide .mission-live");
      place?.replaceChildren(text); // a new text is read out, even if it says the same again
    }, SAY_AFTER_MS);
  }

  /** A message of the payload, still with its blanks. @param {string} id */
  text(id) {
    return this.payload?.messages[id] ?? "";
  }

  #tell() {
    document.dispatchEvent(new Event(CHANGED));
  }
}

export const mission = new Mission();

/**
 * Draw now if there is something to draw, and after every change, until the signal ends it.
 * @param {(state: State, payload: Payload) => void} draw
 * @param {AbortSignal} signal
 */
export function follow(draw, signal) {
  const again = () => {
    if (mission.state && mission.payload) draw(mission.state, mission.payload);
  };
  document.addEventListener(CHANGED, again, { signal });
  again();
}

// What the guide is made of, here because every request of a first visit counts.

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
 * @template {Element} Made
 * @param {Made} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {Made}
 */
export function finish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A button. @param {string} words @param {() => void} onClick @param {string} look @param {Attributes} more */
export function button(words, onClick, look = "", more = {}) {
  const made = html("button", { type: "button", class: `md-button ${look}`.trim(), ...more }, words);
  made.addEventListener("click", onClick);
  return made;
}

/** Move the focus, and the page, to a heading. @param {string} id */
export function goTo(id) {
  const heading = document.getElementById(id);
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView();
}
