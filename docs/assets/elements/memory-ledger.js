// <memory-ledger>: the Training Memory Ledger, one stacked bar of what training GPT-2 XL keeps.
//
// Every number comes from the payload's row of the chosen configuration. Nothing is drawn before the
// first prediction; the controls are made once, so that a change never takes the focus away.

import { check, radios, stopAt, stops } from "./mission/controls.js";
import { fill, html, keyOf, list, regimeOf, svg } from "./mission/draw.js";
import { Instrument, table as tableOf } from "./mission/instrument.js";
import { COMPARED, LedgerChart, fillOf } from "./mission/ledger-chart.js";
import { isOpen, mission } from "./mission/state.js";

/**
 * @typedef {import("./mission/state.js").State} State
 * @typedef {import("./mission/state.js").Payload} Payload
 * @typedef {import("./mission/state.js").Chosen} Chosen
 * @typedef {import("./mission/ledger-chart.js").Part} Part
 * @typedef {"fits" | "fits_if_grads_freed" | "over"} Verdict
 * @typedef {{verdict: Verdict, cause: string, difference_gb: string}} OnDevice
 * @typedef {{bytes: number[], gb: string[], total: number, total_gb: string, total_gib: string,
 *   peak_gb: string, static_gb: string, state_gb: string, largest: number, axis: number,
 *   node: OnDevice, laptop: OnDevice}} Row
 */

const TAG = "memory-ledger";
// Among the dismissed prompts this stands for the first change, after which they are shown.
const PROMPTED = "shown";
const PROMPTS = ["optimizer", "precision", "batch"];
const LABELS = { device: "Device", optimizer: "Optimizer", precision: "Precision", recompute: "Activations" };
const MARKS = /** @type {const} */ ({ fits: "green", fits_if_grads_freed: "amber", over: "red" });

/** @param {Chosen} controls @param {Payload} payload @returns {Row} */
const rowOf = (controls, payload) => payload.ledger[keyOf(controls, payload)];

/** @param {Row} row @param {Chosen} controls @returns {OnDevice} */
const onDevice = (row, { device }) => row[device === "laptop" ? "laptop" : "node"];

/** What each part is called under an optimizer. @param {Payload} payload @param {string} optimizer @returns {Chosen} */
function labelsOf(payload, optimizer) {
  const [state1, state2] = payload.state_names[optimizer];
  return { ...Object.fromEntries(payload.components), state1, state2 };
}

/** What the sentences are filled from. @param {Row} row @param {Chosen} controls @param {Payload} payload */
function valuesOf(row, controls, payload) {
  const { device = "", batch } = controls;
  const on = onDevice(row, controls);
  const [largest = ""] = payload.components[row.largest] ?? [];
  return {
    total: row.total_gb,
    gib: row.total_gib,
    peak: row.peak_gb,
    static: row.static_gb,
    state: row.state_gb,
    activations: row.gb.at(-1),
    budget: payload.budgets[device].gb,
    difference: on.difference_gb,
    verdict: mission.text(`verdict.name.${on.verdict}`),
    largest: mission.text(`part.${largest}`),
    largest_gb: row.gb[row.largest],
    axis: payload.ticks[row.axis].at(-1)[1],
    batch,
  };
}

export class MemoryLedger extends Instrument {
  /** @type {ReturnType<typeof build> | undefined} */
  #made;
  /** @type {(ResizeObserver | IntersectionObserver)[]} of the chart */
  #observers = [];
  #width = 0;
  /** Whether what is drawn now is the learner's own change. */
  #own = false;
  /** What the last change moved, in words. */
  #moved = "";
  #drawn = "";

  connectedCallback() {
    const sizes = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      if (!width || width === this.#width) return;
      this.#width = width;
      this.#again();
    });
    const arrivals = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) this.#see();
    });
    this.#observers = [sizes, arrivals];
    super.connectedCallback();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    for (const observer of this.#observers) observer.disconnect();
    this.#made = undefined;
  }

  #again() {
    this.#drawn = "";
    if (mission.state && mission.payload) this.draw(mission.state, mission.payload);
  }

  /** Keep that the optimizer was shown at FP32. */
  #see() {
    const act1 = mission.state?.act1;
    const { optimizer = "", precision = "" } = act1?.controls ?? {};
    if (act1?.locked_at && precision === "fp32" && !act1.seen.includes(optimizer))
      mission.change((state) => state.act1.seen.push(optimizer));
  }

  /** @param {(state: State) => void} recipe */
  #change(recipe) {
    this.#own = true;
    mission.change(recipe);
    this.#own = false;
  }

  /** @param {string} control @param {string} value */
  #set(control, value) {
    const { state, payload } = mission;
    if (!state || !payload) return;
    const before = state.act1.controls;
    const after = { ...before, [control]: value };
    this.#moved = movedWords(before, after, payload);
    this.#change(({ act1 }) => {
      act1.controls = after;
      if (!act1.prompts.includes(PROMPTED)) act1.prompts.push(PROMPTED);
      // Where the bar is below the controls, what it showed before the change counts as well.
      for (const { optimizer = "", precision } of [before, after])
        if (precision === "fp32" && !act1.seen.includes(optimizer)) act1.seen.push(optimizer);
    });
    mission.say(spokenWords(control, before, after, payload));
  }

  /** @param {string} part @param {boolean} shown */
  #show(part, shown) {
    const { state, payload } = mission;
    if (!state || !payload) return;
    const { controls } = state.act1;
    this.#change(({ act1 }) => {
      act1.hidden = act1.hidden.filter((id) => id !== part);
      if (!shown) act1.hidden.push(part);
    });
    const name = labelsOf(payload, controls.optimizer ?? "")[part];
    const total = rowOf(controls, payload).total_gb;
    mission.say(fill(mission.text(shown ? "spoken.shown" : "spoken.hidden"), { part: name, total }));
  }

  /** @param {State} state @param {Payload} payload */
  draw(state, payload) {
    if (!isOpen(state, "prediction-1")) {
      this.replaceChildren();
      this.#made = undefined;
      this.#moved = "";
      return;
    }
    const { act1 } = state;
    const now = JSON.stringify([act1, this.#moved]);
    if (this.#made && now === this.#drawn) return;
    this.#drawn = now;
    if (!this.#made) {
      this.#made = build(payload, act1.controls, {
        set: (control, value) => this.#set(control, value),
        show: (part, shown) => this.#show(part, shown),
        dismiss: (prompt) => this.#change((changed) => changed.act1.prompts.push(prompt)),
      });
      this.replaceChildren(this.#made.root);
      for (const observer of this.#observers) observer.observe(this.#made.figure);
      this.#width = this.#made.figure.clientWidth;
    }
    syncControls(this.#made, act1, payload);
    this.#verdict(this.#made, act1.controls, payload);
    this.#picture(this.#made, act1, payload);
    tables(this.#made, act1, payload);
  }

  /** @param {Made} made @param {Chosen} controls @param {Payload} payload */
  #verdict({ banner }, controls, payload) {
    const row = rowOf(controls, payload);
    const { verdict, cause } = onDevice(row, controls);
    const words = fill(
      mission.text(verdict === "fits" ? "verdict.fits" : `oom.${cause}`),
      valuesOf(row, controls, payload),
    );
    const becameOver = verdict === "over" && this.#own && !banner.classList.contains("red");
    if (becameOver) banner.setAttribute("role", "alert");
    else if (banner.textContent !== words) banner.removeAttribute("role");
    banner.className = `mission-banner ${MARKS[verdict]}`;
    if (banner.textContent !== words) banner.textContent = words;
  }

  /** @param {Made} made @param {State["act1"]} act1 @param {Payload} payload */
  #picture({ chart, reading, axis, moved }, act1, payload) {
    const { controls } = act1;
    const { device = "" } = controls;
    const row = rowOf(controls, payload);
    const { verdict } = onDevice(row, controls);
    const values = valuesOf(row, controls, payload);
    const parts = partsOf(act1, payload);
    const shown = parts.filter(({ bytes, hidden }) => bytes && !hidden);
    const listed = shown.map(({ label, gb }) => `${label} ${gb}`).join(", ");
    chart.draw({
      parts,
      verdict,
      ticks: payload.ticks[row.axis],
      budget: { bytes: payload.budgets[device].bytes, label: mission.text(`budget.${device}`) },
      total: fill(mission.text(verdict === "over" ? "ledger.total.over" : "ledger.total"), values),
      name: fill(mission.text("ledger.name"), values),
      description: `${fill(mission.text("ledger.parts"), { parts: listed })} ${subset(parts)}`,
      overlay: overlayOf(act1, payload),
      width: this.#width,
    });
    reading.textContent = fill(mission.text(`reading.${verdict}`), values);
    axis.textContent = row.axis === payload.axis_default ? "" : fill(mission.text("axis"), values);
    moved.textContent = this.#moved || mission.text("ledger.moved.none");
  }
}

/** @typedef {ReturnType<typeof build>} Made */

/** @param {State["act1"]} act1 @param {Payload} payload @returns {Part[]} */
function partsOf({ controls, hidden }, payload) {
  const row = rowOf(controls, payload);
  const labels = labelsOf(payload, controls.optimizer ?? "");
  return payload.components.map(([id], index) => ({
    id,
    label: labels[id] ?? id,
    gb: fill(mission.text("ledger.total"), { total: row.gb[index] }),
    bytes: row.bytes[index] ?? 0,
    hidden: hidden.includes(id),
  }));
}

/** How many parts are shown. @param {Part[]} parts */
function subset(parts) {
  const real = parts.filter(({ bytes }) => bytes > 0);
  const shown = real.filter(({ hidden }) => !hidden);
  return fill(mission.text("subset"), { k: shown.length, m: real.length });
}

/** What the reveal lays over the bar, in the configuration that it is about. @param {State["act1"]} act1 @param {Payload} payload */
function overlayOf({ revealed, controls, prediction }, payload) {
  if (!revealed || Object.entries(COMPARED).some(([name, value]) => controls[name] !== value)) return null;
  const bytes = payload.predictions.claims[prediction ?? ""] ?? 0;
  return { gap: payload.predictions.gap, ghost: bytes ? { bytes, label: "your prediction" } : null };
}

/** @param {Chosen} before @param {Chosen} after @param {Payload} payload */
function movedWords(before, after, payload) {
  const [old, now] = [rowOf(before, payload), rowOf(after, payload)];
  // Where a state is dropped, the optimizer that had it names it.
  const labels = labelsOf(payload, (after.optimizer === "sgd" ? before.optimizer : after.optimizer) ?? "");
  const changes = payload.components.flatMap(([id], index) => {
    if (old.bytes[index] === now.bytes[index]) return [];
    const values = { part: labels[id], before: old.gb[index], after: now.gb[index] };
    return fill(mission.text("ledger.moved.part"), values);
  });
  if (before.device !== after.device) {
    const budget = (/** @type {Chosen} */ { device = "" }) => payload.budgets[device].gb;
    changes.push(fill(mission.text("ledger.moved.budget"), { before: budget(before), after: budget(after) }));
  }
  return fill(mission.text("ledger.moved"), { changes: changes.join("; ") || mission.text("ledger.moved.nothing") });
}

/** @param {string} control @param {Chosen} before @param {Chosen} after @param {Payload} payload */
function spokenWords(control, before, after, payload) {
  const row = rowOf(after, payload);
  const values = valuesOf(row, after, payload);
  const prefix = control === "bookkeeping" ? `${mission.text(`spoken.${regimeOf(after, payload)}`)} ` : "";
  const axis = row.axis === rowOf(before, payload).axis ? "" : ` ${fill(mission.text("axis"), values)}`;
  return prefix + fill(mission.text(`spoken.${onDevice(row, after).verdict}`), values) + axis;
}

/**
 * @param {Payload} payload
 * @param {Chosen} controls
 * @param {{set: (control: string, value: string) => void, show: (part: string, shown: boolean) => void,
 *   dismiss: (prompt: string) => void}} act
 */
function build(payload, controls, act) {
  const offered = payload.controls.ledger ?? {};
  const choices = (/** @type {string} */ name) => offered[name]?.values ?? [];
  const group = (/** @type {keyof typeof LABELS} */ name) =>
    radios({
      name: `ledger-${name}`,
      legend: LABELS[name],
      choices: choices(name),
      chosen: controls[name] ?? null,
      onChange: (value) => act.set(name, value),
    });
  const regime = html("p", { class: "mission-note" });
  const precision = group("precision");
  precision.append(regime);
  const kept = html("p", { class: "mission-note" });
  const recompute = group("recompute");
  recompute.append(kept);
  const bookkeeping = list({
    name: "ledger-bookkeeping",
    label: "Bookkeeping",
    choices: choices("bookkeeping"),
    chosen: controls.bookkeeping ?? null,
    onChange: (value) => act.set("bookkeeping", value),
  });
  const batch = stops({
    name: "ledger-batch",
    label: "Batch",
    choices: choices("batch"),
    chosen: controls.batch ?? "",
    onChange: (value) => act.set("batch", value),
  });
  const panel = html(
    "details",
    { class: "mission-controls ledger-panel", open: true },
    html("summary", {}, "Controls"),
    html("div", { class: "ledger-controls" }, group("device"), group("optimizer"), precision, bookkeeping, recompute, batch),
  );

  const chart = new LedgerChart(TAG);
  const [reading, axis, moved] = ["mission-line", "mission-note", "ledger-moved"].map((name) => html("p", { class: name }));
  const figure = html("figure", { class: "mission-chart ledger-figure" }, chart.element, axis, moved, reading);
  const banner = html("p", { class: "mission-banner" });
  const table = html("div");
  const peek = html("div");
  const boxes = checkboxes(payload, act.show);
  const prompts = PROMPTS.map((id) => prompt(id, act.dismiss));
  const notices = html("div", { class: "ledger-prompts" }, html("p", {}, "Three things to try:"), ...prompts.map(({ item }) => item));
  const view = html(
    "div",
    { class: "mission-view" },
    html("div", { class: "ledger-verdict mission-verdict" }, banner),
    figure,
    html("details", { class: "mission-table" }, html("summary", {}, "Show as table"), table),
    boxes.group,
    notices,
    html("details", { class: "mission-table ledger-peek" }, html("summary", {}, "The worked numbers of this configuration"), peek),
  );
  const root = html("div", { class: "mission-layout" }, panel, view);
  return {
    ...{ root, chart, figure, banner, table, peek, boxes, prompts, notices, bookkeeping, regime, kept, batch },
    ...{ reading: /** @type {HTMLElement} */ (reading), axis: /** @type {HTMLElement} */ (axis) },
    moved: /** @type {HTMLElement} */ (moved),
  };
}

/** @param {string} id @param {(id: string) => void} dismiss */
function prompt(id, dismiss) {
  const close = html("button", { type: "button", "aria-label": `Dismiss: ${mission.text(`notice.${id}`)}` }, "×");
  close.addEventListener("click", () => {
    dismiss(id);
    // The button is gone; anyone who came by keyboard goes on from another one, or from what follows.
    const next = document.querySelector(".ledger-prompt:not([hidden]) button") ?? document.querySelector(".ledger-peek summary");
    /** @type {HTMLElement | null} */ (next)?.focus();
  });
  return { id, item: html("div", { class: "ledger-prompt" }, html("span", {}, mission.text(`notice.${id}`)), close) };
}

/** @param {Payload} payload @param {(part: string, shown: boolean) => void} show */
function checkboxes(payload, show) {
  const caption = html("p", { class: "mission-note" });
  const rows = payload.components.map(([id]) => {
    const input = html("input", { type: "checkbox", name: `ledger-show-${id}` });
    input.addEventListener("change", () => show(id, input.checked));
    const swatch = svg(
      "svg",
      { class: `ledger-swatch ${id}`, width: 22, height: 16, "aria-hidden": "true" },
      svg("rect", { x: 1, y: 1, width: 20, height: 14, fill: fillOf(TAG, id) }),
    );
    const name = html("span");
    const size = html("small");
    return { id, input, name, size, label: html("label", {}, input, swatch, name, " ", size) };
  });
  const group = html("fieldset", { class: "ledger-shown" }, html("legend", {}, "Parts shown"), ...rows.map(({ label }) => label), caption);
  return { group, rows, caption };
}

/** Let the controls show what is chosen. @param {Made} made @param {State["act1"]} act1 @param {Payload} payload */
function syncControls(made, act1, payload) {
  const { controls, prompts } = act1;
  for (const name of Object.keys(LABELS)) check(made.root, `ledger-${name}`, controls[name]);
  stopAt(made.batch, payload.controls.ledger?.batch?.values ?? [], controls.batch);
  const select = made.bookkeeping.querySelector("select");
  if (select) select.value = controls.bookkeeping ?? "";
  made.bookkeeping.hidden = controls.precision !== "mixed";
  made.regime.textContent = mission.text(`regime.${regimeOf(controls, payload)}`);
  made.kept.textContent = mission.text(`recompute.${controls.recompute}`);
  const parts = partsOf(act1, payload);
  const verdict = onDevice(rowOf(controls, payload), controls).verdict;
  made.boxes.group.classList.toggle("over", verdict === "over");
  made.boxes.rows.forEach(({ input, name, size }, index) => {
    const part = parts[index];
    if (!part) return;
    input.checked = !part.hidden;
    input.disabled = part.bytes === 0;
    name.textContent = part.label;
    size.textContent = part.bytes ? part.gb : "0 GB here";
  });
  made.boxes.caption.textContent = subset(parts);
  for (const { id, item } of made.prompts) item.hidden = prompts.includes(id);
  made.notices.hidden = !prompts.includes(PROMPTED) || PROMPTS.every((id) => prompts.includes(id));
}

/** The numbers of the bar, and how each came about. @param {Made} made @param {State["act1"]} act1 @param {Payload} payload */
function tables({ table, peek }, act1, payload) {
  const { controls } = act1;
  const { device = "", recompute = "", batch } = controls;
  const row = rowOf(controls, payload);
  const parts = partsOf(act1, payload);
  const gb = (/** @type {string} */ size) => fill(mission.text("ledger.total"), { total: size });
  const sums = [
    ["Total", gb(row.total_gb)],
    ["Step peak", gb(row.peak_gb)],
    ["Budget", gb(payload.budgets[device].gb)],
  ];
  const sizes = parts.map(({ label, gb: size, hidden }) => [hidden ? `${label} (not drawn)` : label, size]);
  table.replaceChildren(tableOf("Training memory, part by part", ["Part", "Memory"], sizes, sums));

  const terms = payload.terms[regimeOf(controls, payload)];
  const worked = parts.flatMap(({ id, label, gb: size, bytes }) => {
    const term = id === "activations" ? fill(terms[id][recompute], { batch }) : terms[id];
    return bytes ? [[label, term, size]] : [];
  });
  const total = [["Total", "", gb(row.total_gb)]];
  peek.replaceChildren(tableOf("How each part is counted here", ["Part", "Counted as", "Memory"], worked, total, 1));
}
