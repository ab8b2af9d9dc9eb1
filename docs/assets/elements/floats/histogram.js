// Recorded gradients, counted, drawn and described as lesson_code/gpu_training/exponent_histogram.py
// and lesson_site/floats/gradients.py do; a test compares. Pure.

import { powerOfTwo } from "./formats.js";

/** @typedef {import("./formats.js").FloatFormat} FloatFormat */
/**
 * By exponent from the first on: how many, or how many of each of a bin's four parts where a format
 * may end inside.
 * @typedef {[first: number, bins: (number | number[])[]]} Histogram
 */
/** @typedef {"lost" | "kept" | "over"} Fate */

const SPLITS = [1.8125, 1.875, 2 - 2 ** -11];
const HIGH = 1000;
const VISIBLE = 8;

/** @param {number | number[]} bin */
const sum = (bin) => (typeof bin === "number" ? bin : bin.reduce((all, part) => all + part, 0));

/** How many are in all bins. @param {Histogram} histogram */
export const others = ([, bins]) => bins.reduce((/** @type {number} */ all, bin) => all + sum(bin), 0);

/** Whether a bin is rounded to zero. @param {number} exponent @param {FloatFormat} kind */
const isLost = (exponent, kind) => 2 ** (exponent + 1) <= kind.lost;

/** How many of a bin are too large. @param {number} exponent @param {number | number[]} bin @param {FloatFormat} kind */
function tooLarge(exponent, bin, kind) {
  const low = 2 ** exponent;
  if (kind.overflows(low)) return sum(bin);
  if (!kind.overflows(2 * low) || typeof bin === "number") return 0;
  return sum(bin.slice(SPLITS.indexOf(kind.overflow / low) + 1));
}

/**
 * How many are lost below and above.
 * @param {Histogram} histogram @param {FloatFormat} kind @param {number} power of the loss scale
 */
export function counted([first, bins], kind, power) {
  let [lost, over] = [0, 0];
  bins.forEach((bin, index) => {
    const exponent = first + index + power;
    if (isLost(exponent, kind)) lost += sum(bin);
    over += tooLarge(exponent, bin, kind);
  });
  return { lost, over };
}

/** A share in percent, rounded from the counts. @param {number} part @param {number} whole */
export function share(part, whole) {
  const tenths = Math.floor((2000 * part + whole) / (2 * whole));
  if (part && !tenths) return "under 0.1 %";
  if (part < whole && tenths === 1000) return "over 99.9 %";
  return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

/** @param {number} count */
const grouped = (count) => count.toLocaleString("en-US");

/** @param {Histogram} histogram @param {FloatFormat} kind @param {number} power @returns {string[]} */
export function sentences(histogram, kind, power) {
  const whole = others(histogram);
  const { lost, over } = counted(histogram, kind, power);
  const scale = power ? `Times ${grouped(2 ** power)} (${powerOfTwo(power)})` : "Unscaled";
  const rounded = lost ? `rounds ${share(lost, whole)} of these gradients to zero` : "keeps them all";
  const below = `${scale}, ${kind.name} ${rounded}: ${grouped(lost)} of ${grouped(whole)} are lost.`;
  if (!over) return [below, "At the other end none is too large."];
  if (!kind.hasInfinity) return [below, `At the other end ${grouped(over)} are too large (${share(over, whole)}).`];
  return [
    below,
    `At the other end ${grouped(over)} become infinite (${share(over, whole)}), and a step with even ` +
      "one of them is skipped.",
  ];
}

/**
 * The outlines of the bars.
 * @param {Histogram} histogram @param {FloatFormat} kind @param {number} power @returns {{[fate in Fate]: string}}
 */
export function paths([first, bins], kind, power) {
  const tallest = Math.max(...bins.map(sum));
  /** @param {number} count */
  const height = (count) => Math.max(VISIBLE, Math.floor((count * HIGH) / tallest));
  const found = { lost: "", kept: "", over: "" };
  bins.forEach((bin, index) => {
    const left = first + index + power;
    const total = sum(bin);
    if (!total) return;
    const over = tooLarge(left, bin, kind);
    const top = HIGH - height(total);
    if (isLost(left, kind)) found.lost += bar(left, HIGH, top);
    else {
      const split = over ? Math.min(HIGH, top + height(over)) : top;
      if (over < total) found.kept += bar(left, HIGH, split);
      if (over) found.over += bar(left, over === total ? HIGH : split, top);
    }
  });
  return found;
}

/** @param {number} left @param {number} bottom @param {number} top */
const bar = (left, bottom, top) => `M${left} ${bottom}V${top}h1V${bottom}z`;
