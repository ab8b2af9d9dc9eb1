// What the page says and draws of one choice, as lesson_site/forecast/told.py does, which a test
// compares. Pure: plain data in, plain data out.

import { coarse, outward, rounded, write, writeBand } from "../quantities.js";
import { fits, forecast } from "./formula.js";

/** @typedef {import("./formula.js").Step} Step */
/** @typedef {import("./formula.js").Card} Card */
/** @typedef {import("./formula.js").Forecast} Forecast */
/** @typedef {import("./formula.js").Host} Host */
/** @typedef {import("../chart/drawing.js").Rows} Rows */
/** @typedef {import("../chart/drawing.js").Row} Row */
/** @typedef {{[name: string]: string}} Words */
/** @typedef {[batch: number, format: string, last: number, flop: {[format: string]: number}, bytes: number, convolution_bytes: number, launches: number, peak_bytes: number]} Counted */
/** @typedef {{name: string, things: string, steps: Counted[]}} Model */
/** @typedef {[model: string, card: string, format: string, last: boolean, batch: number, seconds: number, who: string]} Point */
/**
 * @typedef {object} Payload what lesson_site/forecast/data.py wrote
 * @property {import("./formula.js").Rules} rules
 * @property {Host} host
 * @property {Words} words
 * @property {Words} parts
 * @property {Words} formats
 * @property {Words} layouts
 * @property {Words} limits
 * @property {{[id: string]: Model}} models
 * @property {{[id: string]: Card}} cards
 * @property {Point[]} points
 * @property {[model: string, format: string, batch: number, label: string, seconds: number][]} cpu of ours
 * @property {[width: number, seconds: number, ...counted: Counted][]} sweep
 */
/** @typedef {{card: string, model: string, batch: number, format: string, channels_last: boolean, host: Host}} Choice */
/** @typedef {{label: string, seconds: number}} Own what the reader measured of this step */
/** @typedef {{sentences: string[], drawing: Rows | null, cards: string[][]}} Told */

const DASH = "–";
const GB = 1e9;

/** A time, as a forecast is written. @param {number} seconds */
const about = (seconds) => write(seconds, "s", coarse(seconds));
/** A part of a step: with two digits the parts add up. @param {number} seconds */
const partly = (seconds) => write(seconds, "s", seconds / 10);
/** Both ends of a forecast time. @param {number} low @param {number} high */
const bandOf = (low, high) => writeBand(low, high, "s");
/** One end of how many times as fast. @param {number} value @param {boolean} up */
const end = (value, up) => rounded(outward(value, up), coarse(outward(value, up)));
/** Samples a second. @param {number} batch @param {number} seconds */
const aSecond = (batch, seconds) => rounded(batch / seconds, coarse(batch / seconds));
/** Memory with three digits: it is counted. @param {number} bytes */
const memory = (bytes) => write(bytes, bytes >= GB ? "gigabytes" : "megabytes");

/** A sentence with its blanks filled. @param {string | undefined} template @param {{[name: string]: string}} values */
const fill = (template, values) => (template ?? "").replace(/\{(\w+)\}/g, (blank, name) => values[name] ?? blank);

/** The batches of which a model's step was counted. @param {Model} model */
export const batchesOf = (model) => [...new Set(model.steps.map(([batch]) => batch))].sort((a, b) => a - b);

/**
 * A model's step; null if nobody counted it.
 * @param {Model} model
 * @param {number} batch
 * @param {string} format in TF32 a step does what it does in float32
 * @param {boolean} channels_last the other layout's counts serve where this one's are missing
 * @returns {Step | null}
 */
export function stepOf(model, batch, format, channels_last) {
  const of = model.steps.filter(([size, name]) => size === batch && name === (format === "tf32" ? "float32" : format));
  const found = of.find(([, , last]) => Boolean(last) === channels_last) ?? of[0];
  return found ? { ...read(found), format, channels_last } : null;
}

/** @param {Counted} counted @returns {Step} */
function read([, format, last, flop, bytes, convolution_bytes, launches, peak_bytes]) {
  return { format, flop, bytes, convolution_bytes, launches, peak_bytes, channels_last: Boolean(last) };
}

/**
 * What the page says of a choice.
 * @param {Payload} payload
 * @param {Choice} choice
 * @param {Own[]} [own]
 * @returns {Told}
 */
export function tell(payload, choice, own = []) {
  const { words, rules, cards } = payload;
  const model = payload.models[choice.model];
  const card = cards[choice.card];
  const step = model ? stepOf(model, choice.batch, choice.format, choice.channels_last) : null;
  if (!model || !card || !step) return { sentences: [words["not counted"] ?? ""], drawing: null, cards: [] };
  const rows = Object.values(cards).map((each) => cardRow(payload, step, choice, each));
  const found = forecast(step, card, rules, choice.host);
  if (!found) {
    const blanks = { card: card.name, format: payload.formats[choice.format] ?? "" };
    return { sentences: [fill(words["no units"], blanks)], drawing: null, cards: rows };
  }
  const sentences = sentencesOf(payload, step, choice, card, found, model.things);
  return { sentences, drawing: drawingOf(payload, found, step, choice, card, own), cards: rows };
}

/** What limits a step: a key of the payload's limits. @param {Forecast} found @param {Step} step @param {Host} host */
function limit(found, step, [low, , high]) {
  const work = found.arithmetic + found.traffic;
  return step.launches * low < work && work < step.launches * high ? "either" : found.binds;
}

/** @param {Payload} payload @param {Step} step @param {Choice} choice @param {Card} card @param {Forecast} found @param {string} things */
function sentencesOf({ words, rules }, step, { batch, host }, card, found, things) {
  const blanks = {
    card: card.name,
    time: about(found.time),
    band: bandOf(found.low, found.high),
    rate: aSecond(batch, found.time),
    things,
    launches: String(step.launches),
    work: about(found.arithmetic + found.traffic),
    start: bandOf(step.launches * host[0], step.launches * host[2]),
    peak: memory(step.peak_bytes),
    room: memory(rules.memory * card.memory),
  };
  const names = ["verdict", limit(found, step, host), fits(step, card, rules) ? "fits" : "too large"];
  if (!card.tested) names.push("untested");
  return names.map((name) => fill(words[name], blanks));
}

/** @param {Payload} payload @param {Step} step @param {Choice} choice @param {Card} card @returns {string[]} */
function cardRow({ words, rules, limits, formats }, step, { batch, format, host }, card) {
  const fitting = words[fits(step, card, rules) ? "yes" : "no"] ?? "";
  const found = forecast(step, card, rules, host);
  const lacking = fill(words.units, { format: formats[format] ?? "" });
  if (!found) return [card.name, DASH, DASH, DASH, lacking, fitting];
  const limited = limits[limit(found, step, host)] ?? "";
  return [card.name, about(found.time), bandOf(found.low, found.high), aSecond(batch, found.time), limited, fitting];
}

/** @param {Payload} payload @param {Forecast} found @param {Step} step @param {Choice} choice @param {Card} card @param {Own[]} own @returns {Rows} */
function drawingOf(payload, found, step, choice, card, own) {
  const { words, parts } = payload;
  /** @type {(part: string, color: number, value: number, low?: number, high?: number, text?: string) => Row} */
  const row = (part, color, value, low = 0, high = 0, text = partly(value)) => {
    const label = parts[part] ?? "";
    if (low === high) return { label, color, mark: { value, text, kind: "forecast" } };
    return { label, color, mark: { value, text, kind: "forecast", low, high, band: bandOf(low, high) } };
  };
  const [low, , high] = choice.host.map((cost) => step.launches * cost);
  const rows = [
    row("arithmetic", 1, found.arithmetic),
    row("traffic", 1, found.traffic),
    row("launches", 1, found.launches, low, high),
    row("step", 2, found.time, found.low, found.high, `about ${about(found.time)}`),
  ];
  const groups = [{ title: fill(words.group, { card: card.name }), rows }];
  const asked = [choice.model, choice.card, choice.format];
  const near = payload.points.filter((point) => asked.every((each, index) => point[index] === each));
  const others = near.map((point) => published(payload, point, choice.batch));
  if (others.length) groups.push({ title: words.others ?? "", rows: others });
  const raced = payload.cpu.filter(([model, format, batch]) => model === choice.model && format === choice.format && batch === choice.batch);
  const ours = raced.map(([, , , label, seconds]) => ({ ...measured(label, seconds), color: 0 }));
  if (ours.length) groups.push({ title: words.ours ?? "", rows: ours });
  const mine = own.map(({ label, seconds }) => ({ ...measured(label, seconds), own: true }));
  if (mine.length) groups.push({ title: words.own ?? "", rows: mine });
  return { shape: "rows", groups, unit: "s" };
}

/** @param {Payload} payload @param {Point} point @param {number} wanted @returns {Row} */
function published({ words, formats, layouts }, [, , format, last, batch, seconds, who], wanted) {
  const value = (seconds / batch) * wanted;
  const layout = last ? `, ${layouts[1]}` : "";
  const label = fill(words.point, { who, batch: String(batch), format: formats[format] ?? "", layout });
  return { label, color: 0, mark: { value, text: write(value, "s"), kind: "published" } };
}

/** @param {string} label @param {number} value @returns {Row} */
const measured = (label, value) => ({ label, color: 4, mark: { value, text: write(value, "s") } });

/**
 * Where a card would beat our CPU: by width, for each batch who wins, and by how much.
 * @param {Payload} payload
 * @param {string} card
 * @param {Host} host
 * @returns {[width: string, cells: [wins: string, text: string][]][]}
 */
export function crossing({ sweep, cards, rules, words }, card, host) {
  /** @type {Map<string, [string, string][]>} */
  const rows = new Map();
  for (const [width, seconds, ...counted] of sweep) {
    const of = cards[card];
    const found = of && forecast(read(counted), of, rules, host);
    if (!found) continue;
    const [least, most] = [seconds / found.high, seconds / found.low];
    const wins = least > 1 ? "wins" : most < 1 ? "loses" : "open";
    const text = fill(words[wins], { least: end(least, false), most: end(most, true) });
    const name = width.toLocaleString("en");
    rows.set(name, [...(rows.get(name) ?? []), [wins, text]]);
  }
  return [...rows];
}

/** What the table of the crossing is called. @param {Payload} payload @param {string} card */
export const crossingTitle = ({ words, cards }, card) => fill(words.crossing, { card: cards[card]?.name ?? "" });
