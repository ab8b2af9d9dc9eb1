// <pipeline-analyzer>: the Pipeline Breakdown Analyzer, where an iteration's time goes.
//
// Its controls are made once; after each change the row of the new configuration is shown. The
// learner's prediction is on the baseline alone, since it was about the baseline.

import { recorded } from "./mission/decision.js";
import { check, radios, stopAt, stops, toggle } from "./mission/controls.js";
import { button, fill, html, labelOf } from "./mission/draw.js";
import { Instrument, table } from "./mission/instrument.js";
import { bars, gauge, keyOf, memory, predicted } from "./mission/pipeline-chart.js";
import { isOpen, mission } from "./mission/state.js";

/**
 * @typedef {import("./mission/state.js").State} State
 * @typedef {import("./mission/state.js").Payload} Payload
 * @typedef {import("./mission/state.js").Chosen} Chosen
 * @typedef {import("./mission/pipeline-chart.js").Row} Row
 * @typedef {import("./mission/pipeline-chart.js").Marks} Marks
 */

// After so many changes the learner may go on without the target.
const TRIES = 8;
// What is read out, and the question that each number answers.
/** @type {[name: string, note: string][]} */
const READOUTS = [
  ["Accelerator utilisation", "Is anything running? Compute, or a kernel of the transfers"],
  ["Compute share", "Is it tensor arithmetic?"],
  ["MFU", "How much of the peak becomes progress?"],
  ["HFU", "The same, recomputation counted"],
  ["Kernel efficiency", "Of the peak, while compute runs"],
  ["Relative throughput", "Times the baseline’s"],
];
const SAYS = { prefetch: "Prefetching", checkpointing: "Checkpointing" };
const LABELS = { ...SAYS, checkpointing: "Checkpointing (full recomputation)" };
/** The sign before each verdict. @type {{[verdict: string]: string}} */
const MARKS = { fits: "right", fits_if_grads_freed: "chosen", over: "wrong" };
/** @type {{[value: string]: string}} */
const ON = { 0: "off", 1: "on" };

/** A row with the names that the sentences use. @param {Row} row @param {Payload} payload @returns {any} */
const named = (row, payload) => ({
  ...row,
  memory: row.memory_gb,
  target_state: row.target,
  data: row.shares[0],
  budget: payload.budgets.node.gb,
  target: payload.target,
});

export class PipelineAnalyzer extends Instrument {
  /** What changes, by name. @type {{[name: string]: HTMLElement}} */
  #places = {};
  /** @type {Node[] | undefined} what is here while the instrument is locked */
  #locked;

  /** @param {State} state @param {Payload} payload */
  draw(state, payload) {
    if (!isOpen(state, "prediction-2")) {
      if (this.#locked) this.replaceChildren(...this.#locked);
      this.#locked = undefined;
      return;
    }
    if (!this.#locked) this.#build(state, payload);
    this.#showControls(state.act2.controls);
    this.#showCharts(state, payload);
    this.#showWords(state, payload);
  }

  /** @param {string} name @param {keyof HTMLElementTagNameMap} tag @param {string} [css] */
  #place(name, tag, css) {
    return (this.#places[name] = html(tag, { class: css }));
  }

  /** @param {State} state @param {Payload} payload */
  #build(state, payload) {
    this.#locked = [...this.childNodes];
    const text = (/** @type {string} */ id) => mission.text(id);
    const says = fill(text("pipeline.goal"), { target: payload.target, budget: payload.budgets.node.gb });
    this.replaceChildren(
      html("p", { class: "pipeline-goal" }, says),
      html("div", { class: "mission-layout" }, this.#controls(state.act2.controls, payload), this.#view(payload)),
    );
  }

  /** @param {Chosen} chosen @param {Payload} payload */
  #controls(chosen, payload) {
    const { mixed, batch } = payload.controls.pipeline ?? {};
    const change = (/** @type {string} */ name) => (/** @type {string | boolean} */ value) =>
      this.#change(name, typeof value === "boolean" ? String(Number(value)) : value);
    const record = (this.#places.record = button("Record this configuration", this.#record, "md-button--primary"));
    const reset = button("Reset to baseline", this.#reset);
    const at = (/** @type {string} */ name) => chosen[name] ?? "";
    return html(
      "div",
      { class: "mission-controls", role: "group", "aria-label": "Pipeline controls" },
      ...this.#priced("prefetch", toggle({ name: "pipeline-prefetch", label: LABELS.prefetch, on: at("prefetch") === "1", onChange: change("prefetch") })),
      ...this.#priced("mixed", radios({ name: "pipeline-mixed", legend: "Precision", choices: mixed?.values ?? [], chosen: at("mixed"), onChange: change("mixed") })),
      ...this.#priced("checkpointing", toggle({ name: "pipeline-checkpointing", label: LABELS.checkpointing, on: at("checkpointing") === "1", onChange: change("checkpointing") })),
      ...this.#priced("batch", stops({ name: "pipeline-batch", label: "Batch", choices: batch?.values ?? [], chosen: at("batch"), onChange: change("batch") })),
      html("div", { class: "mission-buttons" }, record, reset),
      this.#place("recorded", "p", "mission-note"),
    );
  }

  /** A control with what it costs beside it. @param {string} name @param {HTMLElement} control */
  #priced(name, control) {
    const id = `pipeline-cost-${name}`;
    const field = control.matches("fieldset") ? control : control.querySelector("button, input");
    field?.setAttribute("aria-describedby", id);
    control.append(html("p", { id, class: "mission-note" }, mission.text(`pipeline.cost.${name}`)));
    return [control];
  }

  /** @param {Payload} payload */
  #view(payload) {
    const readouts = READOUTS.map(([name, note]) =>
      html("div", {}, html("dt", {}, name), html("dd", {}, this.#place(name, "span"), html("small", {}, note))),
    );
    return html(
      "div",
      { class: "mission-view" },
      html("div", { class: "mission-verdict" }, this.#place("target", "p", "mission-banner")),
      this.#place("bars", "div", "mission-chart"),
      this.#table("bars"),
      this.#place("checkpointing", "p", "mission-line pipeline-remark"),
      this.#place("batch", "p", "mission-line pipeline-remark"),
      html("h4", {}, "How busy, and how much of it is progress"),
      html("div", { class: "pipeline-numbers" },
        html("div", { class: "pipeline-gauge" }, this.#place("gauge", "div", "mission-chart"), gaugeKey(payload.analyzer)),
        html("dl", { class: "mission-readouts" }, ...readouts)),
      this.#table("gauge"),
      formula(),
      html("h4", {}, "Memory on the Training Node"),
      this.#place("memory", "div", "mission-chart"),
      this.#table("memory"),
      this.#place("verdict", "p", "mission-line"),
      this.#place("textbook", "p", "mission-note"),
      this.#place("activations", "p", "mission-note"),
      this.#place("accumulation", "p", "mission-note"),
      this.#after(payload),
    );
  }

  /** What the target opens. @param {Payload} payload */
  #after(payload) {
    const { tensor_effect } = payload.controls.pipeline ?? {};
    const effect = radios({
      name: "pipeline-tensor",
      legend: "Go further: tensor cores",
      choices: tensor_effect?.values ?? [],
      chosen: tensor_effect?.default ?? null,
      onChange: (value) => this.#change("tensor_effect", value),
    });
    const prompt = this.#place("prompt", "div", "pipeline-prompt");
    prompt.append(
      html("p", {}, mission.text("pipeline.gain")),
      html("p", {}, mission.text("pipeline.prompt")),
      html("details", {}, html("summary", {}, "Compare with ours"), html("p", {}, mission.text("pipeline.answer"))),
    );
    const early = this.#place("early", "p");
    early.append(button("Continue without the target", this.#goOn));
    const further = html("div", { class: "pipeline-further" }, effect, this.#place("further", "div"));
    this.#places.effect = effect;
    return html("div", {}, prompt, early, this.#place("laptop", "p"), further);
  }

  /** The disclosure after a chart. @param {string} name */
  #table(name) {
    return html("details", { class: "mission-table" }, html("summary", {}, "Show as table"), this.#place(`${name}-table`, "div"));
  }

  // What the learner does

  /** @param {string} name @param {string} value */
  #change(name, value) {
    mission.change(({ act2 }) => {
      act2.controls[name] = value;
      act2.changes += 1;
      const { payload } = mission;
      const row = payload?.pipeline[keyOf(act2.controls)];
      if (row?.target === "reached" && plain(act2.controls, payload)) act2.target_reached = true;
    });
    this.#say(changed(name, value, mission.payload));
  }

  #reset = () => {
    const controls = mission.payload?.controls.pipeline ?? {};
    mission.change(({ act2 }) => {
      for (const [name, control] of Object.entries(controls)) act2.controls[name] = control.default;
    });
    this.#say("Baseline.");
  };

  #record = () => {
    const next = mission.state && recorded(mission.state);
    if (!next) return;
    mission.change(({ act2 }) => {
      act2.record = next;
    });
    mission.say("Configuration recorded.");
  };

  #goOn = () => {
    mission.change(({ laptop }) => {
      laptop.early = true;
    });
    this.#places.laptop?.querySelector("a")?.focus();
  };

  /** Say what the new row means, in one message. @param {string} change */
  #say(change) {
    const { state, payload } = mission;
    if (!state || !payload) return;
    const { controls } = state.act2;
    const row = named(payload.pipeline[keyOf(controls)], payload);
    const reached = row.target_state === "reached" && plain(controls, payload);
    const memory_says = fill(mission.text(`pipeline.spoken.${row.verdict}`), row);
    mission.say(fill(mission.text("pipeline.spoken"), { ...row, change, memory_says, target_says: reached ? "Target reached." : "" }).trim());
  }

  // What is shown

  /** Set the controls to a state that came from elsewhere. @param {Chosen} chosen */
  #showControls(chosen) {
    for (const name of ["prefetch", "checkpointing"])
      this.querySelector(`#pipeline-${name}`)?.setAttribute("aria-checked", String(chosen[name] === "1"));
    check(this, "pipeline-mixed", chosen.mixed);
    check(this, "pipeline-tensor", chosen.tensor_effect);
    const slider = /** @type {HTMLElement | null} */ (this.querySelector(".mission-stops"));
    if (slider) stopAt(slider, mission.payload?.controls.pipeline?.batch?.values ?? [], chosen.batch);
  }

  /** @param {State} state @param {Payload} payload */
  #showCharts({ act2 }, payload) {
    const marks = /** @type {Marks} */ (payload.analyzer);
    const row = /** @type {Row} */ (payload.pipeline[keyOf(act2.controls)]);
    const start = keyOf(defaults(payload));
    const budget = payload.budgets.node.gb;
    const texts = { said: mission.text("pipeline.said"), elsewhere: mission.text("pipeline.said.elsewhere") };
    const here = keyOf(act2.controls) === start;
    const verdict = fill(mission.text(`pipeline.memory.${row.verdict}`), named(row, payload));
    this.#put("bars", bars(row, marks, predicted(act2.prediction, payload.pipeline[start], marks, here, texts)));
    this.#put("gauge", gauge(row, marks));
    this.#put("memory", memory(row, budget, verdict));
    this.#put("bars-table", barsTable(row));
    this.#put("gauge-table", gaugeTable(row, marks));
    this.#put("memory-table", memoryTable(row, budget));
    this.#write("verdict", verdict);
    if (this.#places.verdict) this.#places.verdict.className = `mission-line mission-mark ${MARKS[row.verdict]}`;
    const numbers = [`${row.utilisation} %`, `${row.shares[2]} %`, `${row.mfu} %`, `${row.hfu} %`, `${row.efficiency} %`, `×${row.speed}`];
    READOUTS.forEach(([name], index) => this.#write(name, numbers[index] ?? ""));
  }

  /** @param {State} state @param {Payload} payload */
  #showWords({ act2, laptop }, payload) {
    const { controls, target_reached } = act2;
    const row = named(payload.pipeline[keyOf(controls)], payload);
    const counted = plain(controls, payload);
    this.#showTarget(row, counted);
    const off = payload.pipeline[keyOf({ ...controls, checkpointing: "0" })];
    const on = payload.pipeline[keyOf({ ...controls, checkpointing: "1" })];
    const again = { ...row, off_utilisation: off.utilisation, off_mfu: off.mfu, on_activations: on.activations_gb };
    this.#write("checkpointing", controls.checkpointing === "1" ? fill(mission.text("target.gauge"), again) : "");
    this.#write("batch", batchWords(controls, payload));
    this.#write("activations", fill(mission.text(`pipeline.activations.${controls.checkpointing}`), again));
    this.#write("textbook", row.verdict === "over" ? mission.text("pipeline.memory.textbook") : "");
    this.#write("accumulation", row.verdict === "fits" ? "" : mission.text("pipeline.accumulation"));
    this.#write("recorded", recordWords(act2.record, payload));
    this.#places.record?.toggleAttribute("disabled", !counted);
    this.#places.prompt?.toggleAttribute("hidden", !target_reached);
    this.#places.early?.toggleAttribute("hidden", target_reached || laptop.early || act2.changes < TRIES);
    this.#showLaptop(target_reached || laptop.early);
    this.#places.effect?.toggleAttribute("disabled", !target_reached);
    this.#showFurther(target_reached, row, counted, payload.pipeline[keyOf({ ...controls, tensor_effect: defaults(payload).tensor_effect })]);
  }

  /** @param {any} row named @param {boolean} counted whether the target is evaluated */
  #showTarget(row, counted) {
    const banner = this.#places.target;
    if (!banner) return;
    const near = counted && row.near;
    const reached = counted && row.target_state === "reached";
    const state = near || (counted && row.target_state === "over_memory") ? " amber" : "";
    banner.className = `mission-banner${reached ? " green" : state}`;
    const freed = reached && row.verdict === "fits_if_grads_freed" ? `.${row.verdict}` : "";
    const id = near ? `target.near.${row.near}` : `target.${row.target_state}${freed}`;
    banner.textContent = fill(mission.text(counted ? id : "pipeline.further"), row);
  }

  /** @param {boolean} open */
  #showLaptop(open) {
    const place = this.#places.laptop;
    if (!place || place.childElementCount > 0 === open) return;
    place.replaceChildren(...(open ? [html("a", { class: "next-step", href: "#laptop" }, "Go on to the laptop challenge")] : []));
  }

  /** @param {boolean} open @param {any} row named @param {boolean} counted @param {Row} usual */
  #showFurther(open, row, counted, usual) {
    if (!open) return this.#put("further", html("p", { class: "mission-note" }, "Opens once you have reached the target."));
    if (counted) return this.#put("further", html("p", { class: "mission-note" }, mission.text("pipeline.further.choice")));
    const values = { ...row, plain_utilisation: usual.utilisation, plain_speed: usual.speed };
    return this.#put(
      "further",
      html("p", { class: "mission-line" }, fill(mission.text("pipeline.further.now"), values)),
      html("p", { class: "mission-line" }, mission.text("pipeline.further.lesson")),
      html("p", { class: "mission-line" }, mission.text("pipeline.further.fp32")),
    );
  }

  /** @param {string} name @param {...Node} children */
  #put(name, ...children) {
    this.#places[name]?.replaceChildren(...children);
  }

  /** @param {string} name @param {string} words */
  #write(name, words) {
    const place = this.#places[name];
    if (place && place.textContent !== words) place.textContent = words;
    place?.toggleAttribute("hidden", words === "");
  }
}

/** @param {Payload} payload @returns {Chosen} */
const defaults = (payload) =>
  Object.fromEntries(Object.entries(payload.controls.pipeline ?? {}).map(([name, control]) => [name, control.default]));

/** Whether the tensor effect is left out, so that the target counts. @param {Chosen} controls @param {Payload | null} payload */
const plain = (controls, payload) => controls.tensor_effect === payload?.controls.pipeline?.tensor_effect?.default;

/** What a change is called aloud. @param {string} name @param {string} value @param {Payload | null} payload */
function changed(name, value, payload) {
  if (name in SAYS) return `${SAYS[/** @type {keyof typeof SAYS} */ (name)]} ${ON[value]}.`;
  const label = labelOf(payload?.controls.pipeline?.[name]?.values, value);
  const before = { mixed: "Precision: ", tensor_effect: "Tensor effect: " }[name] ?? "";
  const said = `${before}${label}.`;
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** What a larger batch does under these switches; nothing at the batch where everybody begins. @param {Chosen} controls @param {Payload} payload */
function batchWords(controls, payload) {
  const batches = payload.controls.pipeline?.batch?.values ?? [];
  if (controls.batch === defaults(payload).batch) return "";
  const [low, high] = [batches[0]?.[0], batches[batches.length - 1]?.[0]];
  const small = payload.pipeline[keyOf({ ...controls, batch: low })];
  const large = payload.pipeline[keyOf({ ...controls, batch: high })];
  return fill(mission.text("pipeline.batch"), {
    ...{ low, high, low_mfu: small.mfu, high_mfu: large.mfu },
    ...{ low_utilisation: small.utilisation, high_utilisation: large.utilisation },
  });
}

/** @param {import("./mission/state.js").Recorded | null} record @param {Payload} payload */
function recordWords(record, payload) {
  if (!record) return "";
  const { prefetch, checkpointing, batch, precision } = record;
  const mixed = precision === "fp32" ? "0" : "1";
  const { tensor_effect } = defaults(payload);
  const row = named(payload.pipeline[keyOf({ prefetch, mixed, checkpointing, batch, tensor_effect })], payload);
  const words = { prefetch: ON[prefetch], checkpointing: ON[checkpointing], precision: mixed === "1" ? "mixed precision" : "FP32" };
  const memory_says = fill(mission.text(`pipeline.recorded.${row.verdict}`), row);
  return fill(mission.text("pipeline.recorded"), { ...row, ...words, batch, memory_says });
}

/** What the arcs and their ticks are. @param {Marks} marks */
function gaugeKey({ mfu_ticks }) {
  const ticks = mfu_ticks.map(([at, name]) => `${at} % ${name}`).join(", ");
  return html(
    "ul",
    { class: "pipeline-key" },
    html("li", { class: "solid" }, "Outer arc: accelerator utilisation"),
    html("li", { class: "outlined" }, `Inner arc: MFU; ticks: ${ticks}`),
  );
}

/** MFU in symbols, and what they mean. */
function formula() {
  const symbol = (/** @type {string} */ letter, /** @type {string} */ below) => html("span", {}, html("var", {}, letter), html("sub", {}, below));
  return html(
    "p",
    { class: "mission-note" },
    "MFU = ", symbol("O", "total"), " ÷ (", symbol("T", "wall"), " · ", symbol("R", "peak"), "): ",
    symbol("O", "total"), " is the model’s arithmetic, recomputation left out; ",
    symbol("T", "wall"), " the time that passes; ",
    symbol("R", "peak"), " the peak of 16-bit arithmetic. HFU counts recomputation.",
  );
}

/** @param {Row} row */
const barsTable = ({ shares, units, recompute_share, total }) =>
  table("One iteration, part by part", ["Part", "Share (%)", "Time (units)"], [
    ["Data loading", shares[0] ?? "", units[0] ?? ""],
    ["Memory transfers", shares[1] ?? "", units[1] ?? ""],
    ["Compute", shares[2] ?? "", units[2] ?? ""],
    ["of which recomputation", recompute_share, units[3] ?? ""],
    ["One iteration", "100.0", total],
  ]);

/** @param {Row} row @param {Marks} marks */
const gaugeTable = (row, { utilisation_ticks, mfu_ticks }) =>
  table("What the gauge shows", ["Mark", "Percent"], [
    ["Accelerator utilisation, this configuration", row.utilisation],
    ...utilisation_ticks.map(([at, name]) => [`Accelerator utilisation, ${name}`, String(at)]),
    ["MFU, this configuration", row.mfu],
    ...mfu_ticks.map(([at, name]) => [`MFU, ${name}`, String(at)]),
  ]);

/** @param {Row} row @param {string} budget */
const memoryTable = (row, budget) =>
  table("Memory, part by part", ["Part", "GB"], [
    ["All but activations", row.model_gb],
    ["Activations", row.activations_gb],
    ["All parts at once", row.memory_gb],
    ["Peak of a step that frees its gradients", row.peak_gb],
    ["Budget of the Training Node", budget],
  ]);
