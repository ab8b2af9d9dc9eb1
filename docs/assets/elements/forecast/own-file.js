// Reads what `python -m lesson_code.forecast … --json FILE` wrote of the reader's own model. Pure: text
// in, counts or one sentence out.

import { isObject } from "../record.js";

/** @typedef {import("./formula.js").Step} Step */
/** @typedef {Step & {batch: number}} Counted */
/** @typedef {{machine: string, batch: number, format: string, seconds: number}} Measured */
/** @typedef {{model: string, steps: Counted[], measured: Measured | null}} OwnModel */

export const FORMAT = "gpu-training.forecast";
const VERSION = 1;
const LARGEST = 1_000_000; // characters; a file of the command has some thousand
const MOST_STEPS = 500;
const FORMATS = ["float32", "tf32", "bfloat16", "float16"];
const COUNTS = ["bytes", "convolution_bytes", "launches", "peak_bytes"];
const AGAIN = "write it again with `python -m lesson_code.forecast … --json FILE`";

/** A file that cannot be taken in; the message is one sentence for the reader. */
export class OwnFileError extends Error {}

/** @param {string} words @returns {never} */
function refuse(words) {
  throw new OwnFileError(`${words}; ${AGAIN}.`);
}

/**
 * The counts that a file holds.
 * @param {string} text
 * @returns {OwnModel}
 * @throws {OwnFileError} with the place in the file, and what to do
 */
export function readOwn(text) {
  if (!text.trim()) refuse("The file is empty");
  if (text.length > LARGEST) refuse("The file has more than 1 MB, and the command writes a few kB");
  const file = parsed(text);
  if (!isObject(file)) refuse("The file holds no JSON object");
  if (file.format !== FORMAT) refuse(`The file is not a forecast: its “format” is not “${FORMAT}”`);
  if (file.version !== VERSION)
    refuse(`The file has version ${shown(file.version)}, and this page reads version ${VERSION}`);
  const { model, steps } = file;
  if (!isName(model)) refuse("In the file, “model” is not a name");
  if (!Array.isArray(steps) || !steps.length) refuse("In the file, “steps” holds no counted step");
  if (steps.length > MOST_STEPS) refuse(`In the file, “steps” holds more than ${MOST_STEPS} steps`);
  return { model, steps: steps.map(stepOf), measured: measuredOf(file.measured) };
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return refuse(text.trimStart().startsWith("{") ? "The file is damaged or cut off" : "The file is not JSON");
  }
}

/** @param {unknown} step @param {number} index @returns {Counted} */
function stepOf(step, index) {
  const place = `steps[${index}]`;
  if (!isObject(step)) return refuse(`In the file, ${place} is not an object`);
  const { flop, format, batch, channels_last } = step;
  if (!FORMATS.includes(String(format)))
    refuse(`In the file, ${place}.format is ${shown(format)}, and is one of ${FORMATS.join(", ")}`);
  if (typeof channels_last !== "boolean") refuse(`In the file, ${place}.channels_last is not true or false`);
  if (!isCount(batch) || batch < 1) refuse(`In the file, ${place}.batch is ${shown(batch)}, not a count`);
  if (!isObject(flop) || !Object.entries(flop).every(([name, count]) => FORMATS.includes(name) && isCount(count)))
    refuse(`In the file, ${place}.flop does not hold a count for each format`);
  for (const name of COUNTS)
    if (!isCount(step[name])) refuse(`In the file, ${place}.${name} is ${shown(step[name])}, not a count`);
  if (Number(step.convolution_bytes) > Number(step.bytes))
    refuse(`In the file, ${place}.convolution_bytes is more than all bytes`);
  return /** @type {Counted} */ (/** @type {unknown} */ (step));
}

/** @param {unknown} measured @returns {Measured | null} */
function measuredOf(measured) {
  if (measured === undefined || measured === null) return null;
  const { machine, batch, seconds, format } = isObject(measured) ? measured : {};
  if (!isName(machine) || !isCount(batch) || !isName(format) || !(Number(seconds) > 0 && Number.isFinite(seconds)))
    return refuse("In the file, “measured” does not name a machine, a batch, a format and seconds");
  return { machine, batch, format, seconds: Number(seconds) };
}

/** @param {unknown} value @returns {value is number} */
const isCount = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
/** @param {unknown} value @returns {value is string} */
const isName = (value) => typeof value === "string" && /^[^<>\\]{1,200}$/.test(value);
/** @param {unknown} value */
const shown = (value) => (value === undefined ? "missing" : JSON.stringify(value).slice(0, 40));
