// <gradient-scale>: a loss scale to slide. The recorded gradients move along the number line, and what
// the format loses of them at both ends is counted. Until then the page has one scale. The gradients,
// and what counts them, come with the first touch.

import { apart, make, part } from "./record.js";

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
/** @typedef {import("./floats/formats.js").FloatFormat} FloatFormat */
/** @typedef {typeof import("./floats/formats.js") & typeof import("./floats/histogram.js")} Kit */
/** @typedef {{counts: Counts, kit: Kit, formats: FloatFormat[]}} Loaded */

const UNSCALED = "1 (2⁰)";

const MISSING = "The recorded gradients did not load; reload the page to try again.";

export class GradientScale extends HTMLElement {
  /** @type {Data} */
  #data = JSON.parse(this.dataset.floats ?? "{}");
  #slider = make("input", { type: "range", step: "1", value: "0", autocomplete: "off" });
  /** @type {Promise<Loaded> | undefined} */
  #coming;
  #scale = make("strong", { ariaHidden: "true" }); // the slider says it itself
  #places = list(Object.entries(this.#data.places), this.#data.first[1]);
  #epochs = list(this.#data.epochs.map((epoch, at) => [String(at), String(epoch)]), String(this.#data.epochs.indexOf(this.#data.first[0])));
  #kinds = list(this.#data.formats.map(([name], at) => [String(at), name]), "0");

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
    this.#name(UNSCALED);
  }

  /** What is needed, fetched once; nothing where that fails. @returns {Promise<Loaded | null>} */
  #load = async () => {
    this.#coming ??= this.#fetch();
    try {
      return await this.#coming;
    } catch {
      this.#coming = undefined;
      return null;
    }
  };

  /** @returns {Promise<Loaded>} */
  async #fetch() {
    const written = apart(this);
    const parts = [import("./floats/formats.js"), import("./floats/histogram.js")];
    const kit = /** @type {Kit} */ (Object.assign({}, ...(await Promise.all(parts))));
    return { counts: await written, kit, formats: this.#data.formats.map((layout) => new kit.FloatFormat(layout)) };
  }

  /** Say how large the scale is. @param {string} scale */
  #name(scale) {
    this.#scale.textContent = scale;
    this.#slider.setAttribute("aria-valuetext", scale);
  }

  #show = async () => {
    const loaded = await this.#load();
    const power = Number(this.#slider.value); // it may have gone on meanwhile
    const kind = loaded?.formats[Number(this.#kinds.value)];
    const histogram = loaded?.counts[this.#places.value]?.[Number(this.#epochs.value)];
    if (!loaded || !kind || !histogram) {
      return this.querySelector(".float-says")?.replaceChildren(make("p", { textContent: MISSING }));
    }
    const { paths, powerOfTwo, sentences, written } = loaded.kit;
    this.#name(`${(2 ** power).toLocaleString("en-US")} (${powerOfTwo(power)})`);
    const said = sentences(histogram, kind, power).map((textContent) => make("p", { textContent }));
    part(this, ".float-says", HTMLElement).replaceChildren(...said);
    for (const [fate, outline] of Object.entries(paths(histogram, kind, power)))
      part(this, `.float-${fate}`, SVGPathElement).setAttribute("d", outline);
    this.#drawFormat(kind, `${written(kind.smallest, 2)} to ${written(kind.largest, 5)}`);
  };

  /** The format's limits, and its range. @param {FloatFormat} kind @param {string} span its ends in words */
  #drawFormat(kind, span) {
    for (const [css, limit] of /** @type {const} */ ([["float-low", kind.lost], ["float-high", kind.overflow]]))
      for (const each of this.querySelectorAll(`.${css}`)) {
        for (const end of each.localName === "line" ? ["x1", "x2"] : ["x"]) each.setAttribute(end, this.#at(limit));
        each.classList.toggle("gone", !this.#isInside(limit));
      }
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
  const entries = options.map(([value, text]) => new Option(text, value, value === chosen, value === chosen));
  return make("select", { autocomplete: "off" }, ...entries);
}
