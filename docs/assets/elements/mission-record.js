// <mission-record>: the decision, and the design ledger as a file that goes out and comes in.
//
// The checker of files is loaded when one comes in. Nothing of a file is shown but as text.

import { chapterOf, decisionOf, missing, readDecision, recorded, rowOf, shown } from "./mission/decision.js";
import { check, radios } from "./mission/controls.js";
import { button, fill, html, labelOf } from "./mission/draw.js";
import { Instrument } from "./mission/instrument.js";
import { mission } from "./mission/state.js";
import { DECISIONS, ROOT, browserRecord, readEntries, saveEntry } from "./record.js";

/** @typedef {import("./mission/state.js").State} State */
/** @typedef {import("./mission/state.js").Payload} Payload */
/** @typedef {import("./mission/state.js").Recorded} Recorded */

const CHECKER = new URL("assets/vendor/json-schema/validate.js", ROOT);
const PRIMARY = "md-button--primary";
const FILE_NAME = "design-ledger-ch08.json";

/** A sentence of the payload, filled. @param {string} id @param {{[name: string]: string | number}} values */
const says = (id, values = {}) => fill(mission.text(id), values);

/** Whether a configuration is what the mission looks for, in words. @param {{target: string}} row */
const reachedWord = ({ target }) => mission.text(`record.target.${target === "reached" ? target : "missed"}`);

/** Switches and batch in words. @param {Payload} payload @param {{[name: string]: string}} chosen */
function configuration(payload, { prefetch = "", checkpointing = "", batch = "" }) {
  const label = (/** @type {string} */ control, /** @type {string} */ value) =>
    labelOf(payload.controls.pipeline?.[control]?.values, value).toLowerCase();
  return `prefetching ${label("prefetch", prefetch)}, checkpointing ${label("checkpointing", checkpointing)}, ${label("batch", batch)}`;
}

/** A key that may break into lines after its dots and underscores. @param {string} name */
const breakable = (name) => name.split(/(?<=[._])/).flatMap((part) => [part, html("wbr")]);

/** The file's text. @param {State} state @param {Payload} payload @param {Date} now */
const textOf = (state, payload, now) => `${JSON.stringify(decisionOf(state, payload, now), null, 2)}\n`;

export class MissionRecord extends Instrument {
  #stands = html("p");
  #recorded = html("p", { class: "record-recorded" });
  #tensor = html("p", { class: "mission-note", id: "record-tensor" });
  #record = button("Record this configuration", () => this.#keepConfiguration());
  #choices = html("div", { class: "mission-layout record-choices" });
  #readouts = html("dl", { class: "mission-readouts" });
  #fp16 = html("p", { class: "mission-note" });

  #ready = html("p");
  #missing = html("ul", { class: "record-missing", id: "record-missing" });
  #exports = html(
    "div",
    { class: "mission-buttons" },
    button("Download", () => this.#export(this.#download), PRIMARY),
    button("Copy", () => this.#export(this.#copy)),
    button("Show", () => this.#export(this.#show)),
  );
  #exported = html("p", { class: "record-told", role: "status" });
  #exportedAt = new Date();
  #text = html("textarea", { readonly: true, rows: 16, spellcheck: "false", hidden: true, "aria-label": "The design ledger’s text" });

  #here = html("p");
  #toggle = button("Import a design ledger", () => this.#open(this.#panel.hidden === true));
  #panel = html("div", { class: "record-import", id: "record-import", role: "group", "aria-label": "Import a design ledger", hidden: true });
  #file = html("input", { type: "file", accept: ".json,application/json", hidden: true });
  #paste = html("textarea", { id: "record-paste", rows: 6, spellcheck: "false", autocomplete: "off" });
  #result = html("div", { class: "record-result", role: "status" });
  #preview = html("div");
  #imported = html("p", { class: "record-told", role: "status" });

  /** @param {State} state @param {Payload} payload */
  draw(state, payload) {
    if (!this.#stands.isConnected) this.#build(payload);
    this.#drawDecision(state, payload);
    this.#drawExport(state, payload);
    this.#drawKept(payload);
  }

  /** @param {Payload} payload */
  #build(payload) {
    const { ledger = {} } = payload.controls;
    const choice = (/** @type {"optimizer" | "precision"} */ name, /** @type {string} */ legend) =>
      radios({
        name: `record-${name}`,
        legend,
        choices: ledger[name]?.values ?? [],
        chosen: null,
        onChange: (value) => this.#choose(name, value),
      });
    this.#choices.replaceChildren(
      html("div", { class: "mission-controls" }, choice("optimizer", "Optimizer on the Training Node"), choice("precision", "Precision")),
      html("div", { class: "mission-view" }, this.#readouts, this.#fp16),
    );
    this.#fillPanel();
    this.replaceChildren(
      html("h3", {}, "Your decision"),
      this.#stands,
      html("div", { class: "mission-buttons" }, this.#record),
      this.#tensor,
      this.#recorded,
      this.#choices,
      html("h3", {}, "Export"),
      ...[this.#ready, this.#missing, this.#exports, this.#exported, this.#text],
      html("h3", {}, "Import"),
      ...[this.#here, html("div", { class: "mission-buttons" }, this.#toggle), this.#panel, this.#imported],
    );
  }

  // The decision.

  /** @param {State} state @param {Payload} payload */
  #drawDecision(state, payload) {
    const { controls, record } = state.act2;
    const precision = labelOf(payload.controls.pipeline?.mixed?.values, controls.mixed ?? "");
    this.#stands.textContent = says("record.stands", { configuration: `${precision}, ${configuration(payload, controls)}` });
    const another = recorded(state) === null;
    if (another) this.#record.setAttribute("aria-describedby", "record-tensor");
    else this.#record.removeAttribute("aria-describedby");
    this.#record.setAttribute("aria-disabled", String(another));
    this.#tensor.textContent = another ? says("record.tensor") : "";
    this.#tensor.hidden = !another;
    this.#choices.hidden = !record;
    this.#recorded.textContent = record
      ? says("record.recorded", { configuration: configuration(payload, record) })
      : says("record.nothing");
    if (record) this.#drawChoices(record, payload);
  }

  /** @param {Recorded} record @param {Payload} payload */
  #drawChoices(record, payload) {
    check(this.#choices, "record-optimizer", record.optimizer);
    check(this.#choices, "record-precision", record.precision);
    const row = rowOf(payload, record);
    const values = { ...row, budget: payload.budgets.node.gb, target: payload.target };
    const readout = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ note = "") =>
      html("div", {}, html("dt", {}, name), html("dd", {}, value, note && html("small", {}, note)));
    this.#readouts.replaceChildren(
      readout("MFU", `${row.mfu} %`),
      readout("Accelerator utilisation", `${row.utilisation} %`),
      readout("Compute share", `${row.shares[2]} %`),
      readout("Memory", `${row.memory_gb} GB`, says(`record.memory.${row.verdict}`, values)),
      readout("Target", reachedWord(row), says(`record.why.${row.target}`, values)),
    );
    this.#fp16.textContent = record.precision === "fp16" ? says("record.fp16") : "";
  }

  #keepConfiguration() {
    const next = mission.state && recorded(mission.state);
    if (!next) {
      mission.say(says("record.tensor"));
      return;
    }
    mission.change((state) => {
      state.act2.record = next;
    });
    mission.say(says("record.spoken"));
  }

  /** @param {"optimizer" | "precision"} name @param {string} value */
  #choose(name, value) {
    mission.change(({ act2 }) => {
      if (act2.record) act2.record[name] = value;
    });
    const { state, payload } = mission;
    if (!state?.act2.record || !payload) return;
    const row = rowOf(payload, state.act2.record);
    const { mfu, utilisation, shares, memory_gb: memory } = row;
    const precision = labelOf(payload.controls.ledger?.precision?.values, state.act2.record.precision);
    mission.say(says("record.gives", { precision, mfu, utilisation, share: shares[2], memory, reached: reachedWord(row) }));
  }

  // The file that goes out.

  /** @param {State} state @param {Payload} payload */
  #drawExport(state, payload) {
    const needs = missing(state);
    // What is shown must not outlive what it says.
    if (!this.#text.hidden && (needs.length || this.#text.value !== textOf(state, payload, this.#exportedAt)))
      this.#text.hidden = true;
    this.#ready.textContent = says(needs.length ? "export.missing" : "export.ready");
    this.#missing.hidden = !needs.length;
    this.#missing.replaceChildren(...needs.map(([where, what]) => html("li", {}, html("a", { href: where }, what))));
    for (const one of this.#exports.children) {
      one.setAttribute("aria-disabled", String(needs.length > 0));
      if (needs.length) one.setAttribute("aria-describedby", "record-missing");
      else one.removeAttribute("aria-describedby");
    }
  }

  /**
   * Make the text, keep it, and hand it out.
   * @param {(text: string, kept: string) => void | Promise<void>} handOut
   */
  #export(handOut) {
    const { state, payload } = mission;
    if (!state || !payload) return;
    if (missing(state).length) {
      this.#exported.textContent = says("export.not_yet");
      return;
    }
    const now = (this.#exportedAt = new Date());
    const text = textOf(state, payload, now);
    const kept = this.#keep(decisionOf(state, payload, now), payload, now) && browserRecord().lasting;
    if (!state.completed_at)
      mission.change((next) => {
        next.completed_at = now.toISOString();
      });
    else this.#drawKept(payload);
    handOut(text, says(kept ? "export.kept" : "export.not_kept"));
  }

  /** @param {unknown} ledger @param {Payload} payload @param {Date} now */
  #keep(ledger, payload, now) {
    const chapter = chapterOf(payload.decision.schema);
    return saveEntry(browserRecord().store, DECISIONS, chapter, { at: now.toISOString(), ledger });
  }

  #download = (/** @type {string} */ text, /** @type {string} */ kept) => {
    const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    html("a", { href, download: FILE_NAME }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
    this.#exported.textContent = says("export.saved", { file: FILE_NAME, kept });
  };

  #copy = async (/** @type {string} */ text, /** @type {string} */ kept) => {
    const copied = await Promise.resolve()
      .then(() => navigator.clipboard.writeText(text))
      .then(() => true, () => false);
    if (!copied) this.#show(text, kept);
    this.#exported.textContent = says(copied ? "export.copied" : "export.not_copied", { kept });
  };

  #show = (/** @type {string} */ text, /** @type {string} */ kept) => {
    this.#text.value = text;
    this.#text.hidden = false;
    this.#exported.textContent = says("export.shown", { kept });
  };

  // The file that comes in.

  #fillPanel() {
    this.#toggle.setAttribute("aria-controls", "record-import");
    this.#open(false);
    this.#file.addEventListener("change", () => this.#takeFile());
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#close();
    });
    this.#panel.replaceChildren(
      html("div", { class: "mission-buttons" }, button("Choose a file", () => this.#file.click()), this.#file),
      html("div", { class: "mission-field" }, html("label", { for: "record-paste" }, "Or paste its text"), this.#paste),
      html(
        "div",
        { class: "mission-buttons" },
        button("Check the text", () => this.#check(new TextEncoder().encode(this.#paste.value))),
        button("Close", () => this.#close()),
      ),
      ...[this.#result, this.#preview],
    );
  }

  /** @param {boolean} open */
  #open(open) {
    this.#panel.hidden = !open;
    this.#toggle.setAttribute("aria-expanded", String(open));
    this.#result.replaceChildren();
    this.#preview.replaceChildren();
    if (open) this.#imported.textContent = "";
  }

  #close() {
    this.#open(false);
    this.#paste.value = "";
    this.#toggle.focus();
  }

  /** What the browser keeps of all chapters. @returns {{[chapter: string]: import("./record.js").Entry}} */
  #kept() {
    return readEntries(browserRecord().store, DECISIONS);
  }

  /** @param {Payload} payload */
  #drawKept(payload) {
    const entry = this.#kept()[chapterOf(payload.decision.schema)];
    const date = entry && new Date(entry.at).toLocaleDateString("en-GB", { dateStyle: "long" });
    this.#here.textContent = date ? says("import.here", { date }) : says("import.empty");
  }

  async #takeFile() {
    const file = this.#file.files?.[0];
    const most = mission.payload?.decision.bounds.bytes;
    if (!file || !most) return;
    try {
      // Of a file that is too large, no more is read than shows it.
      const bytes = new Uint8Array(await file.slice(0, most + 1).arrayBuffer());
      await this.#check(bytes, file.size);
    } catch {
      this.#tell(says("import.unread"));
    }
    this.#file.value = ""; // so that choosing the same file again counts as a change
  }

  /** Check a file, and show what is wrong with it or what would be kept. @param {Uint8Array} bytes @param {number} [size] */
  async #check(bytes, size) {
    const { payload } = mission;
    if (!payload) return;
    const library = await import(CHECKER.href).catch(() => null);
    if (!library) {
      this.#tell(says("import.no_checker"));
      return;
    }
    const others = Object.fromEntries(Object.entries(this.#kept()).map(([chapter, { ledger }]) => [chapter, ledger]));
    const tools = { ...payload.decision, validate: library.validate };
    const { value, issues } = readDecision(bytes, tools, others, size);
    const errors = issues.filter(({ severity }) => severity === "error").length;
    const count = errors === 1 ? "1 thing" : `${errors} things`;
    this.#tell(says(errors ? "import.refused" : issues.length ? "import.warned" : "import.good", { count }), issues);
    if (!errors) this.#showPreview(value, others, payload);
  }

  /** @param {string} sentence @param {import("./mission/decision.js").Issue[]} issues */
  #tell(sentence, issues = []) {
    const items = issues.map(({ code, path, message, found }) =>
      html(
        "li",
        {},
        html("p", {}, html("strong", {}, code), " at ", html("code", {}, path)),
        html("p", {}, message, ...(found ? [" Found: ", html("code", {}, found)] : [])),
      ),
    );
    const good = issues.every(({ severity }) => severity === "warning");
    const look = !issues.length ? "" : good ? "amber" : "red";
    const first = html("p", {}, sentence);
    this.#result.replaceChildren(
      issues.length ? html("div", { class: `mission-banner ${look}` }, first, html("ul", { class: "record-issues" }, ...items)) : first,
    );
    this.#preview.replaceChildren();
  }

  /** What would be kept, beside what is there. @param {unknown} ledger @param {{[chapter: string]: unknown}} others @param {Payload} payload */
  #showPreview(ledger, others, payload) {
    const { schema, bounds } = payload.decision;
    const chapter = chapterOf(schema);
    const columns = [shown(ledger, bounds.found)];
    const heads = ["Key", "In this file"];
    if (Object.hasOwn(others, chapter)) {
      columns.push(shown(others[chapter], bounds.found));
      heads.push("There now");
    }
    const names = new Set(columns.flatMap((column) => [...column.keys()]));
    const rows = [...names].map((name) =>
      html("tr", {}, html("th", { scope: "row" }, ...breakable(name)), ...columns.map((column) => html("td", {}, column.get(name) ?? "–"))),
    );
    const head = html("tr", {}, ...heads.map((text) => html("th", { scope: "col" }, text)));
    const table = html("table", { class: "results-table" }, html("thead", {}, head), html("tbody", {}, ...rows));
    this.#preview.replaceChildren(
      html("div", { class: "results-scroll", tabindex: 0, role: "region", "aria-label": "What would be kept" }, table),
      html(
        "div",
        { class: "mission-buttons" },
        button("Keep this decision", () => this.#confirm(ledger, payload), PRIMARY),
        button("Cancel", () => this.#close()),
      ),
    );
  }

  /** @param {unknown} ledger @param {Payload} payload */
  #confirm(ledger, payload) {
    const kept = this.#keep(ledger, payload, new Date());
    this.#close();
    this.#drawKept(payload);
    const lasting = browserRecord().lasting ? "import.done" : "import.until_close";
    this.#imported.textContent = says(kept ? lasting : "import.not_kept");
  }
}
