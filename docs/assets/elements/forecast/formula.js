// The time of a step on a card, computed as lesson_code/forecast/formula.py computes it, which a
// test compares on random steps. Its constants come from there too. Pure.

/**
 * What a step is made of; the formats' names are Python's.
 * @typedef {object} Step
 * @property {string} format what its large products are computed in
 * @property {{[format: string]: number}} flop
 * @property {number} bytes what all operations read and write
 * @property {number} convolution_bytes the part of it that convolutions do
 * @property {number} launches
 * @property {number} peak_bytes the most memory that its tensors hold at once
 * @property {boolean} channels_last
 */
/**
 * @typedef {object} Card
 * @property {string} name
 * @property {number} memory in bytes
 * @property {number} bandwidth in bytes a second
 * @property {{[format: string]: number}} peak operations a second
 * @property {number} band how far work may be off on it, where that is further than elsewhere; else 0
 * @property {boolean} [tested] whether published training speeds on it were compared
 */
/** @typedef {{arithmetic: number, bandwidth: number, memory: number, band: number}} Rules the shares that are reached, and how far work may be off */
/** @typedef {[low: number, likely: number, high: number]} Host seconds in which a computer asks for one kernel */
/** @typedef {"arithmetic" | "traffic" | "launches"} Part */
/**
 * @typedef {object} Forecast in seconds
 * @property {number} time
 * @property {number} low
 * @property {number} high
 * @property {number} arithmetic
 * @property {number} traffic
 * @property {number} launches
 * @property {Part} binds
 */

/**
 * The forecast, or null where the card has no units for the step's format.
 * @param {Step} step
 * @param {Card} card
 * @param {Rules} rules
 * @param {Host} host
 * @returns {Forecast | null}
 */
export function forecast(step, card, rules, host) {
  let atPeak = 0;
  for (const [format, flop] of Object.entries(step.flop)) {
    const peak = peakOf(card, step, format);
    if (peak === undefined) return null;
    atPeak += flop / peak;
  }
  const arithmetic = atPeak / rules.arithmetic;
  const traffic = bytesMoved(step, card) / (rules.bandwidth * card.bandwidth);
  const work = arithmetic + traffic;
  const band = card.band || rules.band;
  const [low, likely, high] = host.map((cost) => step.launches * cost);
  const launches = likely ?? NaN;
  return {
    time: Math.max(work, launches),
    low: Math.max(work / band, low ?? NaN),
    high: Math.max(work * band, high ?? NaN),
    arithmetic,
    traffic,
    launches,
    binds: launches > work ? "launches" : arithmetic > traffic ? "arithmetic" : "traffic",
  };
}

/** float32 inputs may be computed in TF32. @param {Card} card @param {Step} step @param {string} format */
function peakOf(card, step, format) {
  const tf32 = format === "float32" && step.format === "tf32" ? card.peak.tf32 : undefined;
  return tf32 ?? card.peak[format];
}

/** Tensor cores first bring convolutions into their own layout. @param {Step} step @param {Card} card */
function bytesMoved(step, card) {
  const converted = !step.channels_last && (card.peak[step.format] ?? 0) > (card.peak.float32 ?? 0);
  return step.bytes + (converted ? step.convolution_bytes : 0);
}

/** Whether the tensors of the step fit into the card's memory. @param {Step} step @param {Card} card @param {Rules} rules */
export const fits = (step, card, rules) => step.peak_bytes <= rules.memory * card.memory;
