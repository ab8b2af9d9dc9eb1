// <forecast-gpu>: the reader chooses card, model, batch, format, layout and host; sentences, bars and
// the table of all cards follow. Until then the page has those that Python wrote for one choice, and
// the counts and rates of all others are not loaded.
//
// A file of the reader's own model becomes one more model; it is read here and sent nowhere.

import { draw, toElement } from "./chart/drawing.js";
import { batchesOf, crossing, crossingTitle, stepOf, tell } from "./forecast/told.js";
import { MACHINE, apart, browserRecord, chooseCard, chosenCard } from "./record.js";

/** @typedef {import("./forecast/told.js").Payload} Payload */
/** @typedef {import("./forecast/told.js").Choice} Choice */
/** @typedef {import("./forecast/told.js").Model} Model */
/** @typedef {import("./forecast/told.js").Own} Own */
/** @typedef {import("./forecast/own-file.js").OwnModel} OwnModel */

const OWN = "own"; // the model of the reader's file
const RACED = "mnist"; // the model that the race trains
const MICROSECOND = 1e-6;
const MISSING = "The forecasts of other choices did not load: what is written here is for the first one. Choose again to try once more.";
/** @type {[device: string, label: string][]} */
const RACERS = [
  ["cuda", "your GPU, in PyTorch, with the batch’s trip"],
  ["cpu", "your CPU, in PyTorch"],
  ["browser_gpu", "your browser’s GPU, with the batch’s trip"],
  ["browser_cpu", "your browser’s CPU"],
];

/** @param {string} tag @param {string | undefined} text */
const made = (tag, text = "") => Object.assign(document.createElement(tag), { textContent: text });

export class ForecastGpu extends HTMLElement {
  /** @type {Payload} known once #load says so */
  #payload = /** @type {any} */ (null);
  /** @type {Promise<Payload> | undefined} */
  #loading;
  /** @type {OwnModel | null} */
  #own = null;

  connectedCallback() {
    addEventListener("card-changed", this.#onCard);
    addEventListener("own-machine-changed", this.#onMachine);
    this.#onCard();
  }

  disconnectedCallback() {
    removeEventListener("card-changed", this.#onCard);
    removeEventListener("own-machine-changed", this.#onMachine);
  }

  /** Whether what every choice is forecast from is there; where it can't be loaded a sentence says so. */
  async #load() {
    try {
      this.#loading ??= apart(this);
      this.#payload ??= await this.#loading;
      return true;
    } catch {
      this.#loading = undefined;
      this.#say(MISSING, true);
      return false;
    }
  }

  /** lesson.js hands over what the reader did here. @param {Element} part @param {string} value */
  async use(part, value) {
    if (!(await this.#load())) return;
    if (this.querySelector(".drop-message")?.textContent === MISSING) this.#say("");
    if (part instanceof HTMLInputElement) return this.#take([...(part.files ?? [])]);
    const list = /** @type {HTMLSelectElement} */ (part);
    list.value = value; // waking up has put the card that was kept in its place
    if (list.name !== "batch") this.#offerBatches(); // a model may have been chosen when nothing came
    if (list.name === "card") chooseCard(value);
    else await this.#draw();
  }

  /** @param {string} name @returns {HTMLSelectElement} */
  #list(name) {
    return /** @type {HTMLSelectElement} */ (this.querySelector(`select[name="${name}"]`));
  }

  get #model() {
    return this.#payload.models[this.#list("model").value];
  }

  #onMachine = async () => {
    if (await this.#load()) await this.#draw();
  };

  #onCard = async () => {
    if (!(await this.#load())) return;
    this.#list("card").value = chosenCard(Object.keys(this.#payload.cards));
    await this.#draw();
  };

  #offerBatches() {
    const list = this.#list("batch");
    const batches = this.#model ? batchesOf(this.#model) : [];
    const standing = batches.includes(Number(list.value)) ? Number(list.value) : batches[0];
    list.replaceChildren(
      ...batches.map((batch) => new Option(batch.toLocaleString("en"), String(batch), false, batch === standing)),
    );
  }

  /** @returns {Choice} */
  get #choice() {
    const [card, model, format, layout] = ["card", "model", "format", "layout"].map((name) => this.#list(name).value);
    const host = Number(this.#list("host").value) * MICROSECOND;
    return {
      card: card ?? "",
      model: model ?? "",
      batch: Number(this.#list("batch").value),
      format: format ?? "",
      channels_last: layout === "1" && !this.#list("layout").disabled,
      host: host ? [host, host, host] : this.#payload.host,
    };
  }

  #draw = async () => {
    const { batch, format } = this.#choice;
    const step = this.#model && stepOf(this.#model, batch, format, false);
    this.#list("layout").disabled = !step?.convolution_bytes;
    const choice = this.#choice;
    const { sentences, drawing, cards } = tell(this.#payload, choice, await this.#measured(choice));
    this.querySelector(".forecast-says")?.replaceChildren(...sentences.map((sentence) => made("p", sentence)));
    const { nodes, height } = drawing ? draw(drawing) : { nodes: [], height: 0 };
    const svg = this.querySelector(".chart-drawing");
    svg?.replaceChildren(...nodes.map(toElement));
    svg?.setAttribute("height", String(height));
    const chosen = this.#payload.cards[choice.card]?.name;
    this.querySelector("tbody")?.replaceChildren(...cards.map((row) => rowOf(row, row[0] === chosen)));
    this.#drawCrossing(choice);
  };

  /** The table further down, of the same card and host. @param {Choice} choice */
  #drawCrossing({ card, host }) {
    const place = document.querySelector(".forecast-crossing");
    const title = crossingTitle(this.#payload, card);
    const caption = place?.querySelector("caption");
    if (!place || !caption) return;
    caption.textContent = title;
    place.querySelector("[role=region]")?.setAttribute("aria-label", title);
    const cells = crossing(this.#payload, card, host).flatMap(([, row]) => row);
    place.querySelectorAll("td").forEach((cell, index) => {
      const [who = "", text = ""] = cells[index] ?? [];
      cell.dataset.who = who;
      cell.textContent = text;
    });
  }

  /** What the reader measured of this step. @param {Choice} choice @returns {Promise<Own[]>} */
  async #measured({ model, batch, format }) {
    const { measured } = this.#own ?? {};
    if (model === OWN && measured?.batch === batch && measured.format === format)
      return [{ label: measured.machine, seconds: measured.seconds }];
    if (model !== RACED || format !== "float32" || !browserRecord().store.getItem(MACHINE)) return [];
    const figures = (await import("./own-machine.js")).ownMachine()?.figures ?? {};
    return RACERS.flatMap(([device, label]) => {
      const rate = figures[`race.width_256.batch_${batch}.${device}`];
      return rate ? [{ label, seconds: batch / rate.value }] : [];
    });
  }

  /** Take in one file, or say in one sentence why not. @param {File[]} files */
  async #take([file]) {
    if (!file) return;
    const { OwnFileError, readOwn } = await import("./forecast/own-file.js");
    try {
      this.#own = readOwn(await file.text());
    } catch (problem) {
      const known = problem instanceof OwnFileError;
      const sentence = known ? problem.message : "The file could not be read; choose it again.";
      return this.#say(`${file.name}: ${sentence} Nothing was changed.`, true);
    }
    const { model, steps } = this.#own;
    this.#payload.models[OWN] = {
      name: model,
      things: "samples",
      steps: steps.map(({ batch, format, channels_last, flop, bytes, convolution_bytes, launches, peak_bytes }) => [
        batch, format, Number(channels_last), flop, bytes, convolution_bytes, launches, peak_bytes,
      ]),
    };
    const list = this.#list("model");
    list.querySelector(`[value="${OWN}"]`)?.remove();
    list.add(new Option(`Your model: ${model}`, OWN, false, true));
    this.#offerBatches();
    const [first] = steps;
    if (first) [this.#list("batch").value, this.#list("format").value] = [String(first.batch), first.format];
    const count = steps.length === 1 ? "1 counted step" : `${steps.length} counted steps`;
    this.#say(`${file.name} is taken in: ${model}, ${count}. It stays until you leave this page.`);
    await this.#draw();
  }

  /** @param {string} text @param {boolean} isError */
  #say(text, isError = false) {
    const message = this.querySelector(".drop-message");
    message?.classList.toggle("error", isError);
    if (message) message.textContent = text;
  }
}

/** A card's row. @param {string[]} row @param {boolean} chosen */
function rowOf([name, ...cells], chosen) {
  const row = document.createElement("tr");
  if (chosen) row.setAttribute("aria-current", "true");
  const head = Object.assign(made("th", name), { scope: "row" });
  row.append(head, ...cells.map((text) => made("td", text)));
  return row;
}
