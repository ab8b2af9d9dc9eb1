// Numbers as text, written as Python writes them in a result file. Pure.
//
// The rules are those of results/quantities.py and results/summary.py, for positive numbers in the
// units that the race and the axes of charts have; a test compares both sides on random numbers.

/**
 * @typedef {"s" | "samples_per_s" | "flop_per_s" | "bytes_per_s" | "megabytes" | "gigabytes" | "times" |
 *   "percent" | "count" | "plain"} Unit
 */
/** @typedef {{value: number, spread: number, noisy: boolean}} Estimate */

const SPACE = "\u00a0";
const SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";
const SIGNIFICANT_DIGITS = 3;
/** @type {{[unit: string]: [number, string]}} */
const PLAIN = { samples_per_s: [1, "per second"], megabytes: [1e6, "MB"], gigabytes: [1e9, "GB"], times: [1, "times"] };
/** @type {[number, string][]} */
const PREFIXES = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
];

/**
 * What a timed thing works through in a second.
 * @param {number} amount what one run works through: FLOP or samples
 * @param {{median: number, spread: number, noisy: boolean}} time in seconds
 * @returns {Estimate}
 */
export function rate(amount, { median, spread, noisy }) {
  const value = amount / median;
  return { value, spread: (value * spread) / median, noisy };
}

/**
 * A value with its unit, with as many digits as its spread supports and at most three.
 * @param {number} value in the base unit
 * @param {Unit} unit
 * @param {number} spread in the same unit; zero if the value is exact
 */
export function write(value, unit, spread = 0) {
  const plain = PLAIN[unit];
  if (plain) return `${rounded(value / plain[0], spread / plain[0])}${SPACE}${plain[1]}`;
  if (unit === "s") return seconds(value, spread);
  if (unit === "percent") return `${percent(value, spread)}${SPACE}%`;
  if (unit === "count" || unit === "plain") return bare(value, spread);
  const [factor, prefix] = PREFIXES.find(([least]) => value >= least) ?? [1, ""];
  return `${rounded(value / factor, spread / factor)}${SPACE}${prefix}${unit === "bytes_per_s" ? "B/s" : "FLOP/s"}`;
}

/** A spread that leaves one digit, or two where the first is a 1 and stays one. @param {number} value */
export const coarse = (value) => ([1, 6].every((digits) => value.toExponential(digits).startsWith("1")) ? value / 10 : value);

/**
 * Both ends of a forecast, rounded away from its middle, with their unit once if it is the same.
 * @param {number} low
 * @param {number} high
 * @param {Unit} unit
 */
export function writeBand(low, high, unit) {
  const ends = [outward(low, false), outward(high, true)];
  const [first = "", last = ""] = ends.map((end) => write(end, unit, coarse(end)));
  const [value = "", ...of] = first.split(SPACE);
  return `${last.endsWith(SPACE + of.join(SPACE)) ? value : first} to ${last}`;
}

/** A positive number with one digit, or two where the first is a 1, rounded up or down. @param {number} value @param {boolean} up */
export function outward(value, up) {
  const [mantissa = "", exponent = ""] = value.toExponential(6).split("e");
  const cut = mantissa.startsWith("1") ? 1e5 : 1e6;
  const count = Number(mantissa.replace(".", "")) / cut;
  return Number(`${(up ? Math.ceil(count) : Math.floor(count)) * cut}e${Number(exponent) - 6}`);
}

/** @param {number} value @param {number} spread */
function percent(value, spread) {
  if (value === Math.round(value)) return value.toFixed(0);
  return spread || value < 1 ? rounded(value, spread) : grouped(nearest(value, -1), -1).replaceAll(",", "");
}

/** @param {number} value @param {number} spread */
function bare(value, spread) {
  if ((value > 0 && value < 1e-3) || value >= 1e15) {
    const [mantissa = "", exponent = ""] = value.toExponential(value < 1 ? 1 : 2).split("e");
    const raised = exponent.replace(/[-\d]/g, (sign) => SUPERSCRIPTS["-0123456789".indexOf(sign)] ?? "").replace("+", "");
    return `${mantissa}${SPACE}×${SPACE}10${raised}`;
  }
  return value === Math.round(value) ? value.toLocaleString("en") : rounded(value, spread);
}

/** @param {number} value @param {number} spread */
function seconds(value, spread) {
  for (const [factor, name] of /** @type {[number, string][]} */ ([[1e6, "µs"], [1e3, "ms"]])) {
    const text = rounded(value * factor, spread * factor);
    if (Number(text.replaceAll(",", "")) < 1000) return `${text}${SPACE}${name}`;
  }
  return `${rounded(value, spread)}${SPACE}s`;
}

/**
 * A positive number without digits that its spread makes meaningless; one digit stays in any case.
 * @param {number} value
 * @param {number} spread
 */
export function rounded(value, spread = 0) {
  const first = Math.floor(Math.log10(value));
  const least = first - SIGNIFICANT_DIGITS + 1;
  const last = spread > 0 ? Math.min(first, Math.max(least, Math.floor(Math.log10(spread)))) : least;
  return grouped(nearest(value, last), last);
}

/**
 * How many times ten to the power of `last` a number is; what lies in the middle goes to the even
 * side, as in Python. Whole numbers of any size make it exact.
 * @param {number} value
 * @param {number} last
 */
function nearest(value, last) {
  const [bits = 0n] = new BigUint64Array(new Float64Array([value]).buffer);
  const power = Number(bits >> 52n) - 1075;
  const mantissa = (bits & ((1n << 52n) - 1n)) | (1n << 52n);
  let above = mantissa << BigInt(Math.max(0, power));
  let below = 1n << BigInt(Math.max(0, -power));
  if (last > 0) below *= 10n ** BigInt(last);
  else above *= 10n ** BigInt(-last);
  const whole = above / below;
  const rest = 2n * (above % below);
  return rest > below || (rest === below && whole % 2n === 1n) ? whole + 1n : whole;
}

/** @param {bigint} count how many @param {number} last of which power of ten */
function grouped(count, last) {
  const digits = (count * 10n ** BigInt(Math.max(0, last))).toString().padStart(1 + Math.max(0, -last), "0");
  const cut = digits.length - Math.max(0, -last);
  const whole = digits.slice(0, cut).replace(/\B(?=(\d{3})+$)/g, ",");
  return last < 0 ? `${whole}.${digits.slice(cut)}` : whole;
}
