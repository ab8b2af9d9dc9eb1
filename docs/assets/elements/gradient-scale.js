// <gradient-scale>: a loss scale to slide. The recorded gradients move along the number line, and what
// the format loses of them at both ends is counted. Until then the page has one scale. The gradients
// are in `data-counts`; on a finished site they are in the file that `data-at` names, and come with the
// first touch.

import { make, part } from "./dom.js";
import { FloatFormat, powerOfTwo, written } from "./floats/formats.js";
import { paths, sentences } from "./floats/histogram.js";
import { ROOT } from "./record.js";

/** @typedef {import("./floats/histogram.js").Histogram} Histogram */
/**
 * @typedef {object} Data
 * @property {import("./floats/formats.js").Layout[]} formats
 * @property {{[place: string]: string}} places
 * @property {number[]} epochs
 * @property {[epoch: number, place: string]} first
 * @property {[first: number, last: number]} powers of the slider
 * @property {[low: number, high: number]} window exponents of two at the ends of the drawing
 */
/** @typedef {{[place: string]: Histogram[]}} Counts by epoch */

const MISSING = "The recorded gradients did not load; reload the page to try again.";

export class GradientScale extends HTMLElement {
  /** @type {Data} */
  #data = JSON.parse(this.dataset.floats ?? "{}");
  #formats = this.#data.formats.map((layout) => new FloatFormat(layout));
  #slider = make("input", { type: "range", step: "1", value: "0", autocomplete: "off" });
  /** @type {Promise<Counts> | undefined} */
  #coming;
  #scale = make("strong", { ariaHidden: "true" }); // the slider says it itself
  #places = list(Object.entries(this.#data.places), this.#data.first[1]);
  #epochs = list(this.#data.epochs.map((epoch, at) => [String(at), String(epoch)]), String(this.#data.epochs.indexOf(this.#data.first[0])));
  #kinds = list(this.#formats.map(({ name }, at) => [String(at), name]), "0");

  connectedCallback() {
    if (this.querySelector("fieldset")) return;
    const [lowest, highest] = this.#data.powers;
    Object.assign(this.#slider, { min: String(lowest), max: String(highest) });
    const slider = make("label", { className: "float-slider" }, "Loss scale ", this.#scale, this.#slider);
    const lists = [
      make("label", {}, "Gradients at ", this.#places),
      make("label", {}, "Epoch ", this.#epochs),
      make("label", {}, "Format ", this.#kinds),
    ];
    for (const control of [this.#slider, this.#places, this.#epochs, this.#kinds])
      control.addEventListener("input", this.#show);
    const legend = make("legend", { textContent: "Scale the loss" });
    const box = make("fieldset", {}, legend, slider, ...lists);
    for (const touch of ["pointerenter", "focusin"]) box.addEventListener(touch, this.#load);
    this.prepend(box);
    this.#name(0);
  }

  /** What was counted, fetched once; nothing where that fails. @returns {Promise<Counts>} */
  #load = async () => {
    this.#coming ??= this.#fetch();
    try {
      return await this.#coming;
    } catch {
      this.#coming = undefined;
      return {};
    }
  };

  /** @returns {Promise<Counts>} */
  async #fetch() {
    const { counts, at } = this.dataset;
    return counts ? JSON.parse(counts) : (await fetch(new URL(`assets/floats/${at}`, ROOT))).json();
  }

  /** Say how large the scale is. @param {number} power */
  #name(power) {
    const scale = `${(2 ** power).toLocaleString("en-US")} (${powerOfTwo(power)})`;
    this.#scale.textContent = scale;
    this.#slider.setAttribute("aria-valuetext", scale);
  }

  #show = async () => {
    this.#name(Number(this.#slider.value));
    const counts = await this.#load();
    const power = Number(this.#slider.value); // it may have gone on meanwhile
    const kind = this.#formats[Number(this.#kinds.value)];
    const histogram = counts[this.#places.value]?.[Number(this.#epochs.value)];
    if (!kind || !histogram) {
      const missing = make("p", { textContent: MISSING });
      return part(this, ".float-says", HTMLElement).replaceChildren(missing);
    }
    const said = sentences(histogram, kind, power).map((textContent) => make("p", { textContent }));
    part(this, ".float-says", HTMLElement).replaceChildren(...said);
    for (const [fate, outline] of Object.entries(paths(histogram, kind, power)))
      part(this, `.float-${fate}`, SVGPathElement).setAttribute("d", outline);
    this.#drawFormat(kind);
  };

  /** The format's limits, and its range. @param {FloatFormat} kind */
  #drawFormat(kind) {
    for (const [css, limit] of /** @type {const} */ ([["float-low", kind.lost], ["float-high", kind.overflow]]))
      for (const each of this.querySelectorAll(`.${css}`)) {
        for (const end of each.localName === "line" ? ["x1", "x2"] : ["x"]) each.setAttribute(end, this.#at(limit));
        each.classList.toggle("gone", !this.#isInside(limit));
      }
    const span = `${written(kind.smallest, 2)} to ${written(kind.largest, 5)}`;
    part(this, ".float-name", SVGTextElement).textContent = `${kind.name}: ${span}`;
    const ends = { ".float-subnormal": [kind.smallest, kind.smallestNormal], ".float-normal": [kind.smallestNormal, kind.largest] };
    for (const [css, [low = 0, high = 0]] of Object.entries(ends)) {
      const line = part(this, css, SVGLineElement);
      line.setAttribute("x1", this.#at(low));
      line.setAttribute("x2", this.#at(high));
    }
  }

  /** @param {number} size */
  #at(size) {
    const [low, high] = this.#data.window;
    const power = Math.min(Math.max(Math.log2(size), low), high);
    return `${((100 * (power - low)) / (high - low)).toFixed(2)}%`;
  }

  /** @param {number} size */
  #isInside(size) {
    const [low, high] = this.#data.window;
    return Math.log2(size) > low && Math.log2(size) < high;
  }
}

/** @param {[value: string, text: string][]} options @param {string} chosen */
function list(options, chosen) {
  const made = options.map(([value, text]) => new Option(text, value, value === chosen, value === chosen));
  return make("select", { autocomplete: "off" }, ...made);
}
