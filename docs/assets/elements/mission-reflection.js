// <mission-reflection number>: a sentence whose blanks the learner fills and checks; the second one
// begins with a choice.
//
// What is checked stays, and may be changed and checked again. Nothing here moves the focus, except
// to what has no answer yet.

import { check, radios } from "./mission/controls.js";
import { html } from "./mission/draw.js";
import { Instrument, judge, onSubmit, table as tableWith } from "./mission/instrument.js";
import { isOpen, mission } from "./mission/state.js";

/** @typedef {import("./mission/state.js").State} State */
/** @typedef {import("./mission/state.js").Payload} Payload */
/** @typedef {import("./mission/draw.js").Choice} Choice */
/**
 * What lesson_site/mission/reflections.py writes.
 * @typedef {import("./mission/instrument.js").Question & {label: string}} Blank
 * @typedef {{sentence: string[], blanks: Blank[], after: string[], table: Table}} Sentence
 * @typedef {import("./mission/instrument.js").Question & {question: string}} Question
 * @typedef {{caption: string, head: string[], rows: string[][], notes?: string[]}} Table
 */

// Longer options are written out below the sentence too: a closed list cuts them off.
const LONG = 40;

export class MissionReflection extends Instrument {
  /** @type {HTMLSelectElement[]} */
  #lists = [];
  /** A sign behind each list; the words are in the verdicts. */
  #signs = Array.from({ length: 3 }, () => html("span"));
  /** Blanks that were changed since they were checked, so that nothing is said to them. @type {Set<number>} */
  #answersChanged = new Set();
  #choiceChanged = false;
  #error = html("p", { class: "mission-error" });
  #judged = html("ul", { class: "reflection-judged" });
  #after = html("div");
  #next = html("div");
  #choiceError = html("p", { class: "mission-error" });
  #choiceJudged = html("div");

  get #number() {
    return this.getAttribute("number") === "2" ? 2 : 1;
  }

  get #id() {
    return `reflection-${this.#number}`;
  }

  /** @param {State} state */
  #kept(state) {
    return this.#number === 2 ? state.act2.reflection : state.act1.reflection;
  }

  /** @param {Payload} payload @returns {Sentence} */
  #sentence(payload) {
    return payload.reflections[this.#number];
  }

  /** @param {State} state @param {Payload} payload */
  draw(state, payload) {
    if (!this.#judged.isConnected) this.#build(state, payload);
    const { answers, checked } = this.#kept(state);
    if (!checked) this.#answersChanged.clear();
    this.#lists.forEach((select, index) => (select.value = answers[index] ?? ""));
    const judged = checked ? this.#judgements(state, payload) : [];
    this.#judged.hidden = judged.length === 0;
    this.#judged.replaceChildren(...judged.map((each) => html("li", {}, ...verdict(each))));
    this.#signs.forEach((sign, index) => {
      const found = judged.find(({ at }) => at === index);
      sign.className = found ? markOf(found.right) : "";
    });
    this.#drawAfter(checked, payload);
    if (this.#number === 2) this.#drawChoice(state, payload.reflections.choice);
    else this.#drawNext(state);
  }

  // The sentence

  /** @param {State} state @param {Payload} payload */
  #build(state, payload) {
    const { sentence, blanks } = this.#sentence(payload);
    this.#error.id = `${this.#id}-error`;
    this.#lists = blanks.map((blank, index) => this.#list(blank, index));
    const gaps = this.#lists.map((select, index) => html("span", {}, select, this.#signs[index]));
    const parts = sentence.flatMap((text, index) => [text, gaps[index] ?? ""]);
    const form = html(
      "form",
      { novalidate: true },
      html("p", { class: "reflection-sentence" }, ...parts),
      ...blanks.map(writtenOut),
      html("div", { class: "mission-buttons" }, html("button", { class: "md-button" }, "Check")),
      this.#error,
    );
    onSubmit(form, () => this.#check());
    const choice = this.#number === 2 ? this.#choice(state, payload.reflections.choice) : "";
    this.replaceChildren(choice, form, this.#judged, this.#after, this.#next);
  }

  /** @param {Blank} blank @param {number} index */
  #list({ label, options }, index) {
    const select = html("select", { id: `${this.#id}-blank-${index + 1}`, "aria-label": label, "aria-describedby": this.#error.id });
    select.append(new Option(label, "", true, true));
    const long = isLong(options);
    options.forEach(([value, text], place) => select.append(new Option(long ? `${letter(place)}. ${text}` : text, value)));
    select.classList.toggle("reflection-long", long);
    select.addEventListener("change", () => this.#answer(index, select.value));
    return select;
  }

  /** @param {number} index @param {string} value */
  #answer(index, value) {
    this.#error.textContent = "";
    this.#lists[index]?.removeAttribute("aria-invalid");
    this.#answersChanged.add(index);
    mission.change((state) => void (this.#kept(state).answers[index] = value || null));
  }

  #check() {
    const { state, payload } = mission;
    if (!state || !payload) return;
    const { answers } = this.#kept(state);
    const open = answers.indexOf(null);
    this.#error.textContent = open < 0 ? "" : `${this.#sentence(payload).blanks[open]?.label} has no answer yet.`;
    this.#lists.forEach((select, index) => select.setAttribute("aria-invalid", String(index === open)));
    if (open >= 0) {
      this.#lists[open]?.focus();
      return;
    }
    this.#answersChanged.clear();
    mission.change((next) => void (this.#kept(next).checked = true));
    showWhole(this.#judged);
    const judged = this.#judgements(state, payload);
    const right = judged.filter((each) => each.right).length;
    const wrong = judged.filter((each) => !each.right).map(({ label, says }) => `${label}: ${says}`);
    mission.say([`${right} of ${judged.length} right.`, ...wrong].join(" "));
  }

  /** What is said to the answers that have not been changed since. @param {State} state @param {Payload} payload */
  #judgements(state, payload) {
    const { answers } = this.#kept(state);
    return this.#sentence(payload).blanks.flatMap((blank, index) => {
      const answer = answers[index] ?? null;
      if (answer === null || this.#answersChanged.has(index)) return [];
      return [{ at: index, label: blank.label, ...judge(blank, answer) }];
    });
  }

  /** What the model says, once all is answered. @param {boolean} checked @param {Payload} payload */
  #drawAfter(checked, payload) {
    if (checked === this.#after.childElementCount > 0) return;
    const { after, table } = this.#sentence(payload);
    const texts = after.map((text) => html("p", {}, text));
    this.#after.replaceChildren(...(checked ? [tableOf(table), ...texts] : []));
  }

  /** @param {State} state */
  #drawNext(state) {
    const open = isOpen(state, "act-2");
    if (open === this.#next.childElementCount > 0) return;
    const link = html("a", { href: "#act-2", class: "next-step" }, "Go to Act 2");
    this.#next.replaceChildren(...(open ? [html("p", {}, html("strong", {}, "Act 2 is open."), " ", link)] : []));
  }

  // The choice before the second sentence

  /** @param {State} state @param {Question} question */
  #choice(state, { question, options }) {
    const form = html(
      "form",
      { class: "reflection-choice", novalidate: true },
      radios({
        name: `${this.#id}-choice`,
        legend: question,
        choices: options.map(([id, text]) => [id, `${id}. ${text}`]),
        chosen: state.act2.reflection.choice,
        onChange: (value) => {
          this.#choiceError.textContent = "";
          this.#choiceChanged = true;
          mission.change(({ act2 }) => void (act2.reflection.choice = value));
        },
      }),
      this.#choiceError,
      html("div", { class: "mission-buttons" }, html("button", { class: "md-button" }, "Check")),
      this.#choiceJudged,
    );
    this.#choiceError.id = `${this.#id}-choice-error`;
    form.firstElementChild?.setAttribute("aria-describedby", this.#choiceError.id);
    onSubmit(form, () => this.#checkChoice());
    return form;
  }

  #checkChoice() {
    const { state, payload } = mission;
    if (!state || !payload) return;
    const { choice } = state.act2.reflection;
    this.#choiceError.textContent = choice === null ? "Choose one of the fixes." : "";
    if (choice === null) {
      this.querySelector(/** @type {"input"} */ ("input"))?.focus();
      return;
    }
    this.#choiceChanged = false;
    mission.change(({ act2 }) => void (act2.reflection.choice_checked = true));
    showWhole(this.#choiceJudged);
    const { right, says } = judge(payload.reflections.choice, choice);
    mission.say(`${right ? "" : "Not yet. "}${says}`);
  }

  /** @param {State} state @param {Question} question */
  #drawChoice({ act2: { reflection } }, question) {
    const { choice, choice_checked: checked } = reflection;
    check(this, `${this.#id}-choice`, choice);
    if (!checked) this.#choiceChanged = false;
    if (!choice || !checked || this.#choiceChanged) return this.#choiceJudged.replaceChildren();
    const own = judge(question, choice);
    const judged = html("p", {}, ...verdict({ label: choice, ...own }));
    if (!own.right) return this.#choiceJudged.replaceChildren(judged); // the right one is still to be found
    const others = Object.entries(question.wrong_says).map(([id, says]) => html("li", {}, html("strong", {}, id), `: ${says}`));
    this.#choiceJudged.replaceChildren(judged, html("p", {}, "The other fixes:"), html("ul", {}, ...others));
  }
}

/** @param {number} place */
const letter = (place) => "abcd".charAt(place);

/** @param {Choice[]} options */
const isLong = (options) => options.some(([, text]) => text.length > LONG);

/** The options of a blank in full, where a list would cut them off. @param {Blank} blank */
function writtenOut({ label, options }) {
  if (!isLong(options)) return null;
  const items = options.map(([, text], place) => html("li", {}, html("span", {}, `${letter(place)}. `), text));
  return html("div", { class: "reflection-options" }, html("p", {}, `${label} can be:`), html("ul", {}, ...items));
}

/** Scroll no further than it takes to have all of it in view. @param {Element} element */
const showWhole = (element) => element.scrollIntoView({ block: "nearest" });

/** @param {boolean} right */
const markOf = (right) => `mission-mark ${right ? "right" : "wrong"}`;

/** @param {{label: string, right: boolean, says: string}} judged */
function verdict({ label, right, says }) {
  const mark = html("span", { class: markOf(right) }, `${label}: ${right ? "right" : "not yet"}`);
  return [mark, ". ", says.replace(/^Right: ./, (start) => start.slice(-1).toUpperCase())];
}

/** @param {Table} table */
function tableOf({ caption, head, rows, notes = [] }) {
  return html("div", {}, tableWith(caption, head, rows), ...notes.map((note) => html("p", { class: "mission-note" }, note)));
}
