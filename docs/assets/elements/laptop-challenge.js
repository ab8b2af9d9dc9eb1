// <laptop-challenge>: training GPT-2 XL in 8 GB, move by move.
//
// A change of a control is a move; nothing takes one back. What the bar comes to was computed for
// every setting when the site was built.

import { check, radios } from "./mission/controls.js";
import { button, fill, goTo, html, keyOf, labelOf, list, regimeOf } from "./mission/draw.js";
import { Instrument, judge, onSubmit } from "./mission/instrument.js";
import { bar, blanks, table, verdictOf } from "./mission/laptop-chart.js";
import { MOST_MOVES, mission } from "./mission/state.js";
import { readNumber } from "./prediction.js";

/** @typedef {import("./mission/state.js").State} State */
/** @typedef {import("./mission/state.js").Payload} Payload */
/** @typedef {import("./mission/laptop-chart.js").Row} Row */

/** @type {{[control: string]: string}} */
const NAMES = {
  precision: "Precision",
  bookkeeping: "Bookkeeping",
  optimizer: "Optimizer",
  recompute: "Activations",
  batch: "Batch size",
};
/** @type {{[outcome: string]: string}} */
const COLOURS = { limit_hint: "amber", limit_reached: "red", fits_unsafe: "green", borderline_unsafe: "amber" };
const EXITS = ["fuse", "host", "sixteen", "adapters", "shard"];

/** @param {import("./mission/state.js").Chosen} config @param {Payload} payload @returns {Row} */
const rowOf = (config, payload) => payload.laptop[keyOf(config, payload)];

/** What a value is called, without what is in brackets. @param {string} control @param {string} value */
const called = (control, value) => labelOf(mission.payload?.controls.laptop?.[control]?.values, value).replace(/ \(.*\)$/, "");

/** A judgement whose first words carry the mark: "Right:", "Too low.". @param {boolean} right @param {string} says */
function judged(right, says) {
  const [first = ""] = says.split(/(?<=[.:]) /, 1);
  return [html("span", { class: `mission-mark ${right ? "right" : "wrong"}` }, first), says.slice(first.length)];
}

/** Gigabytes as people write them: the unit may follow. @param {string} text */
const gigabytes = (text) => readNumber(text.replace(/GB\s*$/i, ""));

/** Which sentences an outcome has: anyone who has met the limit needs no hint at it. @param {string} outcome @param {string[]} seen */
const wordsOf = (outcome, seen) => (outcome === "limit_hint" && seen.includes("limit_reached") ? `${outcome}.again` : outcome);

/** A move in the list. @param {import("./mission/state.js").Move} move */
function written({ control, from, to, before_gb: before, after_gb: after }) {
  const words = { control: NAMES[control], from: called(control, from), to: called(control, to), before, after };
  return fill(mission.text("laptop.move"), words);
}

export class LaptopChallenge extends Instrument {
  /** The last move that was made here, and where the bar was before. @type {{n: number, before: Row} | null} */
  #last = null;
  #answersChanged = false;
  #total = html("p", { class: "laptop-total mission-verdict" });
  #chart = html("div", { class: "mission-chart" });
  #notes = html("div");
  #table = html("div");
  #outcome = html("div");
  #count = html("p", { class: "laptop-count" });
  #moves = html("ol");
  #box = html("div", { class: "laptop-moves", tabindex: 0, role: "region", "aria-label": "Your moves" }, this.#moves);
  #gb = html("input", { type: "text", id: "laptop-floor", inputmode: "decimal", maxlength: 20, autocomplete: "off", "aria-describedby": "laptop-floor-error" });
  #gbError = html("p", { class: "mission-error", id: "laptop-floor-error" });
  #whyError = html("p", { class: "mission-error", id: "laptop-why-error" });
  #judged = html("div");
  #exits = html("details", { class: "laptop-exits" }, html("summary", {}, "Other exits"));
  #quantify = html("form", { class: "laptop-quantify", novalidate: true });
  #dialog = html("dialog", { class: "laptop-dialog", "aria-labelledby": "laptop-dialog-title" });

  /** @param {State} state @param {Payload} payload */
  draw(state, payload) {
    if (!this.#chart.isConnected) this.#build(state, payload);
    const { config } = state.laptop;
    for (const [name, value] of Object.entries(config)) check(this, `laptop-${name}`, value);
    const bookkeeping = /** @type {HTMLSelectElement} */ (this.querySelector("#laptop-bookkeeping"));
    bookkeeping.value = config.bookkeeping ?? "";
    /** @type {HTMLElement} */ (bookkeeping.parentElement).hidden = config.precision !== "mixed";
    this.#drawBar(state, payload);
    this.#drawMoves(state);
    this.#drawQuantify(state, payload);
  }

  /** @param {State} state @param {Payload} payload */
  #build(state, payload) {
    const view = html(
      "div",
      { class: "mission-view" },
      this.#total,
      this.#chart,
      this.#notes,
      html("details", { class: "mission-table" }, html("summary", {}, "Show as table"), this.#table),
      this.#outcome,
      this.#count,
      this.#box,
      html("div", { class: "mission-buttons" }, button("Restart challenge", () => this.#dialog.showModal())),
    );
    this.replaceChildren(
      html("p", {}, mission.text("laptop.goal")),
      html("p", {}, mission.text("laptop.rules")),
      html("div", { class: "mission-layout" }, this.#controls(state, payload), view),
      this.#quantify,
      this.#exits,
      this.#dialog,
    );
    this.#buildQuantify(state, payload);
    this.#exits.append(
      html("p", {}, mission.text("laptop.exits")),
      html("ul", {}, ...EXITS.map((exit) => html("li", {}, mission.text(`laptop.exit.${exit}`)))),
    );
    this.#buildDialog();
  }

  /** @param {State} state @param {Payload} payload */
  #controls(state, payload) {
    const groups = Object.entries(payload.controls.laptop ?? {}).sort(([a], [b]) => order(a) - order(b));
    const made = groups.map(([control, { values }]) => {
      const name = `laptop-${control}`;
      const chosen = state.laptop.config[control] ?? null;
      const onChange = (/** @type {string} */ to) => this.#move(control, to);
      if (control === "bookkeeping") return list({ name, label: NAMES.bookkeeping ?? "", choices: values, chosen, onChange });
      const group = radios({ name, legend: NAMES[control] ?? "", choices: values, chosen, onChange });
      group.setAttribute("aria-describedby", `${name}-cost`);
      group.append(html("p", { class: "mission-note", id: `${name}-cost` }, mission.text(`laptop.cost.${control}`)));
      return group;
    });
    return html("div", { class: "mission-controls" }, ...made);
  }

  /** Change one control: a move, for better or worse. @param {string} control @param {string} to */
  #move(control, to) {
    const { state, payload } = mission;
    if (!state || !payload) return;
    const { config, moves } = state.laptop;
    const full = moves.length >= MOST_MOVES;
    if (full) {
      mission.say(fill(mission.text("laptop.full"), { most: MOST_MOVES }));
      this.draw(state, payload); // the control goes back
      return;
    }
    const from = config[control] ?? "";
    const next = { ...config, [control]: to };
    const [before, after] = [rowOf(config, payload), rowOf(next, payload)];
    const n = moves.length + 1;
    const move = { n, control, from, to, before_gb: before.total_gb, after_gb: after.total_gb, total_gb: after.kept_gb };
    this.#last = { n, before };
    mission.change(({ laptop }) => {
      laptop.config = next;
      laptop.moves.push(move);
      if (!laptop.outcomes_seen.includes(after.outcome)) laptop.outcomes_seen.push(after.outcome);
      laptop.smallest ??= keyOf(config, payload);
      if (after.kept_gb < payload.laptop[laptop.smallest].kept_gb) laptop.smallest = keyOf(next, payload);
      laptop.fit ||= after.verdict === "fits";
    });
    mission.say(this.#spoken(move, before, after));
  }

  /** @param {import("./mission/state.js").Move} move @param {Row} before @param {Row} after */
  #spoken({ n, control, from, to }, before, after) {
    const verdict = fill(mission.text(`laptop.spoken.${after.verdict}`), blanks(after));
    const words = { n, from: called(control, from), to: called(control, to), before: before.total_gb, after: after.total_gb, verdict };
    const id = wordsOf(after.outcome, mission.state?.laptop.outcomes_seen ?? []);
    const outcome = after.outcome.startsWith("limit") ? `${mission.text(`laptop.${id}.title`)}.` : "";
    const axis = before.axis === after.axis ? "" : fill(mission.text("laptop.axis"), blanks(after));
    return [fill(mission.text("laptop.spoken"), words), outcome, axis].filter(Boolean).join(" ");
  }

  /** @param {State} state @param {Payload} payload */
  #drawBar({ laptop: { config, moves, outcomes_seen: seen, quantify } }, payload) {
    const [row, regime] = [rowOf(config, payload), regimeOf(config, payload)];
    const before = this.#last?.n === moves.length ? this.#last.before : null;
    const says = (/** @type {string} */ id) => fill(mission.text(id), blanks(row));
    const notes = [
      before ? fill(mission.text("laptop.before"), { before: before.total_gb }) : "",
      before && before.axis !== row.axis ? says("laptop.axis") : "",
      mission.text(`laptop.copies.${regime}`),
    ];
    this.#total.replaceChildren(
      html("strong", {}, `${row.total_gb} GB`),
      ` of ${payload.budgets.laptop.gb} GB, `,
      html("span", {}, verdictOf(row)),
    );
    this.#chart.replaceChildren(bar(row, regime, before));
    this.#notes.replaceChildren(...notes.filter(Boolean).map((note) => html("p", { class: "mission-note" }, note)));
    this.#table.replaceChildren(table(row, regime));
    this.#drawOutcome(row.outcome, wordsOf(row.outcome, seen), regime, quantify.checked, says);
  }

  /**
   * The limit says what it is made of once the learner has answered that.
   * @param {string} outcome
   * @param {string} id of its sentences
   * @param {string} regime
   * @param {boolean} answered
   * @param {(id: string) => string} says
   */
  #drawOutcome(outcome, id, regime, answered, says) {
    const colour = COLOURS[outcome];
    const [title, own] = [says(`laptop.${id}.title`), says(`laptop.${id}.${regime}`)];
    this.#outcome.className = `laptop-outcome ${colour ? `mission-banner ${colour}` : "mission-line"}`;
    this.#outcome.dataset.outcome = outcome;
    this.#outcome.replaceChildren(
      ...(title ? [html("p", {}, html("strong", {}, title))] : []),
      html("p", {}, (!answered && says(`laptop.${id}.asked`)) || says(`laptop.${id}`)),
      ...(own ? [html("p", {}, own)] : []),
    );
  }

  /** @param {State} state */
  #drawMoves({ laptop: { moves } }) {
    const full = moves.length >= MOST_MOVES ? ` ${fill(mission.text("laptop.full"), { most: MOST_MOVES })}` : "";
    this.#count.replaceChildren(html("strong", {}, `Moves: ${moves.length}`), full);
    this.#box.hidden = moves.length === 0;
    const lines = moves.map(written);
    if (lines.join() === [...this.#moves.children].map((line) => line.textContent).join()) return;
    this.#moves.replaceChildren(...lines.map((line) => html("li", {}, line)));
    this.#box.scrollTop = this.#box.scrollHeight;
  }

  #buildDialog() {
    const restart = button("Restart", () => this.#restart());
    const cancel = button("Cancel", () => this.#dialog.close(), "", { autofocus: true });
    this.#dialog.append(
      html("p", { id: "laptop-dialog-title" }, html("strong", {}, "Restart the challenge?")),
      html("p", {}, mission.text("laptop.restart")),
      html("div", { class: "mission-buttons" }, cancel, restart),
    );
  }

  #restart() {
    const controls = mission.payload?.controls.laptop ?? {};
    this.#dialog.close();
    mission.change(({ laptop }) => {
      laptop.config = Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, control.default]));
      laptop.moves = [];
    });
    mission.say(mission.text("laptop.restarted"));
    goTo("laptop");
  }

  /** @param {State} state @param {Payload} payload */
  #buildQuantify({ laptop: { quantify } }, { reflections }) {
    const { question, why } = reflections.quantify;
    const changed = () => {
      this.#answersChanged = true;
      this.#judged.replaceChildren();
    };
    this.#gb.value = quantify.gb;
    this.#gb.addEventListener("input", changed);
    this.#gb.addEventListener("change", () => mission.change(({ laptop }) => void (laptop.quantify.gb = this.#gb.value)));
    const reasons = radios({
      name: "laptop-why",
      legend: why.question,
      choices: why.options,
      chosen: quantify.why,
      onChange: (value) => {
        changed();
        this.#whyError.textContent = "";
        mission.change(({ laptop }) => void (laptop.quantify.why = value));
      },
    });
    reasons.setAttribute("aria-describedby", "laptop-why-error");
    this.#quantify.append(
      html("h4", {}, "Quantify it"),
      html("div", { class: "mission-field" }, html("label", { for: "laptop-floor" }, question), this.#gb, this.#gbError),
      reasons,
      this.#whyError,
      html("div", { class: "mission-buttons" }, html("button", { class: "md-button" }, "Check")),
      this.#judged,
    );
    onSubmit(this.#quantify, () => this.#check());
  }

  #check() {
    const { state, payload } = mission;
    if (!state || !payload) return;
    const missing = Number.isNaN(gigabytes(this.#gb.value));
    this.#gbError.textContent = missing ? payload.reflections.quantify.invalid_says : "";
    this.#gb.setAttribute("aria-invalid", String(missing));
    const noReason = state.laptop.quantify.why === null;
    this.#whyError.textContent = noReason ? "Choose a reason." : "";
    if (missing) return this.#gb.focus();
    if (noReason) return this.querySelector(/** @type {"input"} */ ("[name=laptop-why]"))?.focus();
    this.#answersChanged = false;
    mission.change(({ laptop }) => Object.assign(laptop.quantify, { gb: this.#gb.value, checked: true }));
    this.#judged.scrollIntoView({ block: "nearest" });
    mission.say(this.#judgements(mission.state ?? state, payload).map(({ says }) => says).join(" "));
  }

  /** What is said to the two answers. @param {State} state @param {Payload} payload */
  #judgements({ laptop: { quantify } }, { reflections }) {
    const { right, says } = judge(reflections.quantify.why, quantify.why ?? "");
    const floor = floorJudgement(gigabytes(quantify.gb), reflections.quantify);
    return [floor, { right, says: `${right ? "Right" : "Not yet"}: ${says}` }];
  }

  /** @param {State} state @param {Payload} payload */
  #drawQuantify(state, payload) {
    const { outcomes_seen: seen, quantify } = state.laptop;
    // Both give away what the moves should show first.
    this.#quantify.hidden = this.#exits.hidden = seen.every((outcome) => outcome === "searching");
    if (document.activeElement !== this.#gb) this.#gb.value = quantify.gb;
    check(this.#quantify, "laptop-why", quantify.why);
    if (!quantify.checked) this.#answersChanged = false;
    const shown = quantify.checked && !this.#answersChanged ? this.#judgements(state, payload) : [];
    this.#judged.replaceChildren(
      ...shown.map(({ right, says }) => html("p", {}, ...judged(right, says))),
    );
  }
}

/**
 * What is said to the floor's size.
 * @param {number} gb
 * @param {{least: number, most: number, gib: [number, number], total_below: number, [says: string]: any}} asked
 */
function floorJudgement(gb, { least, most, gib, total_below, right_says, low_says, high_says, total_says, gib_says }) {
  if (gb >= least && gb <= most) return { right: true, says: right_says };
  if (gb > most) return { right: false, says: gb < total_below ? total_says : high_says };
  return { right: false, says: gb >= gib[0] && gb <= gib[1] ? gib_says : low_says };
}

/** Controls stand as they are decided on; the payload sorts its keys. @param {string} control */
const order = (control) => Object.keys(NAMES).indexOf(control);
