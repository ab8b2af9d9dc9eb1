// The race once its button was pressed: loads, races, draws every point as it comes, and saves them.
//
// Leaving the page, or hiding it, ends the race and its workers.

import { InteractiveChart } from "../interactive-chart.js";
import { button, html, list, svg } from "../mission/draw.js";
import { keepRace, keptRace, remove } from "../own-machine.js";
import { ROOT, apart, chooseCard, chosenCard } from "../record.js";
import {
  bandVerdict, crossingOf, describe, forecastSeries, forecastVerdict, guessVerdict, leadsOf, leadsTable, legendOf, rowsOf, seriesOf, sizeSentence, sizeWords, tableOf, titleOf, verdictOf,
} from "./chart.js";
import { Engine } from "./engine.js";
import { dayOf, pointsFrom } from "./kept.js";
import { groupOf, sizeOf, tasksOf } from "./plan.js";
import { Points, Race } from "./race.js";
import { fileName, fileable, resultFile, systemOf } from "./result.js";

/** @typedef {import("../race-gpu.js").RaceGpu} RaceGpu */
/** @typedef {import("./race.js").Facts} Facts */
/** @typedef {import("./race.js").Step} Step */
/** @typedef {{[card: string]: import("./chart.js").Forecast}} Forecasts */
/** @typedef {"idle" | "kept" | "loading" | "running" | "finished" | "stopped" | "failed"} State */

const STYLE = new URL("./race.css", import.meta.url).href;
const COMPARE = new URL("benchmarks/compare/", ROOT).href;
const CHART = "race-chart";
const KEPT = " Your browser keeps it, and the charts of this site show it beside theirs.";
const NO_CARD = "none";
const DOING = { preparing: "getting ready", timing: "timing", reading: "timing, with the loss read at every step" };
const SOFTWARE =
  "The software adapter is a program on the processor that plays a GPU. Its line shows that the way to a GPU works, and says nothing about any GPU.";

/** A chart that is drawn again with every point. */
function blankChart() {
  if (!customElements.get("interactive-chart")) customElements.define("interactive-chart", InteractiveChart);
  const ids = { title: `${CHART}-title`, finding: `${CHART}-finding` };
  const drawing = svg(
    "svg",
    { class: "chart-drawing", width: "100%", role: "img", "aria-labelledby": ids.title, "aria-describedby": ids.finding },
    svg("title", { id: ids.title }),
    svg("desc", { id: ids.finding }),
  );
  const chart = new InteractiveChart();
  chart.append(html("div", { class: "chart-frame" }, drawing), html("p", { class: "chart-readout" }));
  return chart;
}

export class Show {
  #software = button("Race the software adapter too", () => this.#run(true));
  #save = button("Save the result file", () => this.#onSave());
  #clear = button("Forget these points", () => this.#onClear());
  #note = html("p", { class: "race-note" });
  #now = html("p", { class: "race-now" });
  #bar = html("progress", { max: 1, value: 0, "aria-label": "How far the race is" });
  #progress = html("div", { class: "race-progress" }, this.#now, this.#bar);
  #choose = html("div", { class: "race-choose" });
  #verdict = html("p", { class: "race-verdict" });
  #guess = html("p", { class: "race-guess" });
  #plot = blankChart();
  #legend = html("div");
  #leads = html("div");
  #caveat = html("figcaption");
  #table = html("div", { class: "results-scroll", tabindex: 0, role: "region" });
  #figure = html(
    "figure",
    { class: "race-figure" },
    ...[this.#choose, this.#verdict, this.#guess, this.#plot, this.#legend, this.#leads, this.#caveat],
    html("details", {}, html("summary", {}, "Every point as a table"), this.#table),
  );
  #points = new Points();
  /** @type {Race | undefined} */
  #race;
  /** @type {Map<string, Facts>} the racers, once they are known */
  #facts = new Map();
  #group = "";
  /** The task under way. @type {Step["task"] | null} */
  #task = null;
  #chosen = false;
  #read = false;
  /** By card, what PyTorch would reach; nothing before it came. @type {Forecasts} */
  #forecasts = {};
  /** Whether a card is shown beside a machine without a GPU. */
  #beside = true;
  /** Points of another browser or version, which no new race may join. */
  #foreign = false;
  #hasSoftware = false;

  /** @param {RaceGpu} host what was pressed */
  constructor(host) {
    this.host = host;
    const looks = html("link", { rel: "stylesheet", href: STYLE });
    /** Its style is there, or will not come. @type {Promise<unknown>} */
    this.dressed = new Promise((resolve) => (looks.onload = looks.onerror = resolve));
    host.prepend(looks);
    for (const each of [this.#software, this.#save, this.#clear]) host.start.parentElement?.append(" ", each);
    host.status.after(this.#progress, this.#note);
    host.append(this.#figure);
    this.#loadForecasts();
  }

  /** Without them the CPU has nothing beside it. */
  async #loadForecasts() {
    this.#forecasts = await apart(this.host).catch(() => ({}));
    this.#draw();
  }

  /** Draw the race that this browser keeps, if it is one. */
  restore() {
    const kept = keptRace();
    const points = pointsFrom(kept?.points);
    const [first] = points;
    if (!kept || !first || this.#race || this.#points.all.length) return this.#say("");
    for (const point of points) this.#points.add(point);
    for (const { facts } of points) this.#facts.set(facts.racer, facts);
    const system = String(kept.provenance.system ?? "");
    this.#foreign = system !== systemOf(navigator);
    this.#group = groupOf(first.task);
    this.#enter("kept");
    this.#say(`Raced on ${dayOf(points)} in ${system}. Your browser keeps it until you forget it.`);
    this.#draw();
  }

  connect() {
    document.addEventListener("visibilitychange", this.#onVisibility);
    addEventListener("card-changed", this.#onCard);
  }

  disconnect() {
    document.removeEventListener("visibilitychange", this.#onVisibility);
    removeEventListener("card-changed", this.#onCard);
    this.#race?.stop();
  }

  /** The button was pressed: race, or stop. */
  press() {
    if (this.#race) this.#race.stop();
    else this.#run(false);
  }

  /** @param {State} state */
  #enter(state) {
    this.host.dataset.state = state;
    const busy = state === "loading" || state === "running";
    const any = this.#points.all.length > 0;
    this.host.start.textContent = busy ? "Stop" : any ? "Race again" : "Start the race";
    this.host.choosing(!busy, busy || any, any && !busy);
    this.#software.hidden = busy || !this.#hasSoftware;
    this.#save.hidden = busy || !any;
    this.#clear.hidden = busy || !(any || this.#points.gaps.length);
    this.#progress.hidden = !busy;
    this.#figure.hidden = state === "idle" || (state === "failed" && !any);
  }

  /** @param {string} sentence */
  #say(sentence) {
    this.host.status.textContent = sentence;
  }

  #onVisibility = () => {
    if (document.hidden) this.#race?.stop("hidden");
  };

  #onCard = () => this.#draw();

  /** @param {boolean} software whether a software adapter races too */
  async #run(software) {
    const points = this.#points;
    if (this.#foreign) points.clear();
    this.#foreign = false;
    const tasks = tasksOf(this.host.way, Number(this.host.dataset.mostBatch) || Infinity);
    const [first] = tasks;
    this.#chosen = false;
    this.#group = first ? groupOf(first) : "";
    this.#facts.clear();
    this.#race = new Race({
      tasks,
      engineOf: (racer) => new Engine(racer),
      software,
      hidden: () => document.hidden,
      listener: {
        onProgress: (racer, loaded, total) => this.#onProgress(racer, loaded / total),
        onFacts: (facts) => this.#onFacts(facts),
        onAlone: (sentence, isSoftware) => this.#onAlone(sentence, isSoftware),
        onStep: (step) => this.#onStep(step),
        onPoint: (point) => (points.add(point), this.#draw()),
        onGap: (gap) => (points.miss(gap), this.#draw()),
        onSize: (task) => this.#say(sizeSentence(points, task)),
      },
    });
    this.#enter("loading");
    this.host.start.focus(); // which has another name now
    this.#say("Loading what the race runs on …");
    this.#step("Loading …", 0);
    this.#draw();
    const { end, sentence } = await this.#race.run();
    this.#race = undefined;
    this.#task = null;
    this.#enter(end === "hidden" ? "stopped" : end);
    const kept = end === "failed" && points.all.length ? " What was measured so far stays." : "";
    this.#say(sentence + kept);
    // The verdict is over the chart; anyone who cannot see it hears it here.
    const verdict = end === "finished" ? this.#verdictOf() : "";
    if (verdict) this.host.status.append(" ", html("span", { class: "race-heard" }, verdict));
    if (this.#keep() && end === "finished") this.host.status.append(KEPT);
    this.#draw();
  }

  /** @param {string} words @param {number} share of all that is to do */
  #step(words, share) {
    this.#now.textContent = words;
    this.#bar.value = share;
  }

  /** @param {string} racer @param {number} share of its download */
  #onProgress(racer, share) {
    const whole = ((racer === "browser_cpu" ? 0 : 1) + Math.min(1, share || 0)) / 2;
    this.#step(`Loading, ${Math.round(100 * whole)} % …`, whole);
  }

  /** @param {Facts} facts */
  #onFacts(facts) {
    this.#facts.set(facts.racer, facts);
    this.host.threads.hidden = facts.threads > 1;
    if (facts.software) this.#note.replaceChildren(SOFTWARE);
    this.#say(`Ready: ${facts.name}.`);
  }

  /** @param {string} sentence @param {boolean} software */
  #onAlone(sentence, software) {
    this.#hasSoftware = software;
    this.#note.replaceChildren(sentence);
    this.#say(sentence);
  }

  /** @param {Step} step */
  #onStep({ task, number, count, racer, doing }) {
    if (this.host.dataset.state !== "running") this.#enter("running");
    const group = groupOf(task);
    if (!this.#chosen) this.#group = group;
    if (task !== this.#task) {
      this.#task = task;
      this.#draw();
    }
    const name = this.#facts.get(racer)?.name ?? racer;
    const model = this.host.way === "all" ? `${titleOf(group)}, ` : "";
    this.#step(`${number} of ${count}: ${model}${sizeWords(group, sizeOf(task))}. ${name}: ${DOING[doing]}`, (number - 1) / count);
  }

  /** Let the charts of the site show the race beside what they have. @returns {boolean} whether it outlasts the page */
  #keep() {
    const points = this.#points.all;
    return fileable(points).length > 0 && keepRace(resultFile(points, navigator, new Date()), points);
  }

  get #recorded() {
    const { curves = [] } = JSON.parse(this.host.dataset.recorded || "{}");
    return /** @type {import("./chart.js").Recorded[]} */ (curves);
  }

  #draw() {
    if (this.#figure.hidden || !this.host.isConnected) return;
    const [points, group] = [this.#points, this.#group];
    const forecast = this.#forecast;
    const series = [...seriesOf(points, group, this.#recorded, this.#read), ...forecastSeries(forecast, group)];
    const verdict = this.#verdictOf();
    const { guess } = this.host;
    const crossing = crossingOf(points, group);
    const now = this.#task && groupOf(this.#task) === group ? sizeOf(this.#task) : null;
    const leads = leadsOf(points);
    const title = `${titleOf(group)}: speed by size`;
    const raced = series.map(({ name }) => name).join("; ") || "no line yet";
    const description = `${raced}. ${verdict} Both axes are logarithmic; the table below has every point.`;
    this.#drawChoices();
    this.#verdict.textContent = verdict;
    this.#guess.textContent = this.#race ? "" : guessVerdict(points, group, guess);
    this.#plot.describe(describe(series, { group, crossing, now, guess }), { title, finding: description });
    this.#legend.replaceChildren(legendOf(series, group));
    this.#leads.replaceChildren(...(leads.length ? [leadsTable(leads)] : []));
    this.#caveat.textContent = this.#caveatText(series.some(({ id }) => id.startsWith("recorded")), forecast !== null);
    this.#table.setAttribute("aria-label", `Every point: ${titleOf(group)}`);
    this.#table.replaceChildren(tableOf(rowsOf(points, group, this.#recorded, forecast), group));
  }

  /** Whether there are times, and none of a GPU. */
  get #withoutGpu() {
    const points = this.#points.all;
    return points.length > 0 && points.every(({ racer, facts }) => racer === "browser_cpu" || facts.software);
  }

  /** The forecast beside a machine without a GPU; null where there is none. */
  get #forecast() {
    if (!this.#withoutGpu || !this.#beside) return null;
    return this.#forecasts[chosenCard(Object.keys(this.#forecasts))] ?? null;
  }

  /** Who leads where, among the racers, or by forecast. */
  #verdictOf() {
    return verdictOf(this.#points, this.#group) || forecastVerdict(this.#points, this.#group, this.#forecast);
  }

  /** The list of cards to show beside the CPU. */
  #cardList() {
    const cards = Object.entries(this.#forecasts);
    const choices = [...cards.map(([id, { label }]) => /** @type {[string, string]} */ ([id, label])), /** @type {[string, string]} */ ([NO_CARD, "no GPU"])];
    const chosen = this.#beside ? chosenCard(cards.map(([id]) => id)) : NO_CARD;
    const onChange = (/** @type {string} */ card) => {
      this.#beside = card !== NO_CARD;
      if (this.#beside) chooseCard(card);
      else this.#draw();
    };
    return list({ name: "race-card", label: "Beside it, by forecast", choices, chosen, onChange });
  }

  /** The model to look at, where there are several, and the line with its loss read. */
  #drawChoices() {
    const groups = [...new Set([...this.#points.groups, this.#group])];
    const choices = groups.map((group) => /** @type {[string, string]} */ ([group, titleOf(group)]));
    const onChange = (/** @type {string} */ group) => {
      this.#group = group;
      this.#chosen = true;
      this.#draw();
      this.#choose.querySelector("select")?.focus();
    };
    const readable = this.#points.all.some(({ readS }) => readS !== null);
    // Anyone who is at a control must not lose it to a new point.
    const offers = this.#withoutGpu && Object.values(this.#forecasts).some((each) => forecastSeries(each, this.#group).length > 0);
    const state = JSON.stringify([groups, this.#group, readable, offers, this.#beside, offers && chosenCard()]);
    if (this.#choose.dataset.drawn === state) return;
    const focused = this.#choose.contains(document.activeElement) ? document.activeElement?.id : "";
    this.#choose.dataset.drawn = state;
    const several = groups.length > 1;
    this.#choose.replaceChildren(
      several ? list({ name: "race-group", label: "Shown", choices, chosen: this.#group, onChange }) : html("p", { class: "race-what" }, titleOf(this.#group)),
      ...(offers ? [this.#cardList()] : []),
      ...(readable ? [this.#readSwitch()] : []),
    );
    if (focused) /** @type {HTMLElement | null} */ (this.#choose.querySelector(`#${focused}`))?.focus();
  }

  #readSwitch() {
    const input = html("input", { type: "checkbox", id: "race-read", checked: this.#read });
    input.addEventListener("change", () => {
      this.#read = input.checked;
      this.#draw();
    });
    return html("label", { class: "race-switch" }, input, html("span", {}, "Also show it with the loss read at every step"));
  }

  /** @param {boolean} hasRecorded @param {boolean} hasForecast */
  #caveatText(hasRecorded, hasForecast) {
    const threads = this.#facts.get("browser_cpu")?.threads ?? this.#points.all[0]?.facts.threads;
    const counted = threads === undefined ? "" : `, here with ${threads} ${threads === 1 ? "thread" : "threads"}`;
    const recorded = hasRecorded ? " Dotted lines were recorded on other machines." : "";
    const forecast = hasForecast ? " The hatched band is a forecast for PyTorch, whose GPU no browser slows down; the trip of each batch is in it." : "";
    const lies = bandVerdict(this.#recorded, this.#group, this.#forecast);
    return (
      `The browser’s CPU line is WebAssembly${counted}. PyTorch is faster on the same cores, ` +
      `so the ratio of GPU to CPU in the browser is not PyTorch’s.${recorded}${forecast}${lies && ` ${lies}`}`
    );
  }

  #onSave() {
    const now = new Date();
    const points = this.#points.all;
    const text = `${JSON.stringify(resultFile(points, navigator, now), null, 1)}\n`;
    const link = html("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: fileName(now) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    const without = fileable(points).length < points.length ? " without the software adapter" : "";
    this.host.status.replaceChildren(`Saved as ${link.download}${without}. `, html("a", { href: COMPARE }, "Put it beside other machines"), ".");
  }

  #onClear() {
    this.#points.clear();
    remove({ race: true });
    this.#hasSoftware = false;
    this.#enter("idle");
    this.#say("Forgotten.");
    this.host.start.focus();
  }
}
