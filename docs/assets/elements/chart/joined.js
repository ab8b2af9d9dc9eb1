// A chart's description with what only this browser knows: the reader's own machine beside what is
// there, what they predicted, and the forecasts of the card that they chose in place of the T4's.
// Pure: data in, data out.

import { write } from "../quantities.js";
import { CARD } from "./drawing.js";

/** @typedef {import("./drawing.js").Description} Description */
/** @typedef {import("./drawing.js").Mark} Mark */
/** @typedef {import("./drawing.js").Row} Row */
/** @typedef {import("../own-machine.js").OwnMachine} OwnMachine */
/** @typedef {import("../own-machine.js").Figure} Figure */
/** @typedef {[value: number, text: string, low: number, high: number, band: string]} Told */
/** @typedef {{label: string, finding: string, figures: {[name: string]: Told}}} Card forecasts by the names of the T4's */

const OWN = 4; // the number of the colour of the reader's machine
const YOURS = "your machine";

/** By which name the reader's own value is found. @param {Mark} mark */
const ownName = ({ name = "", own: measured }) => measured ?? name;

/** @param {Description} description @param {(mark: Mark) => Mark} change @returns {Description} */
function mapped(description, change) {
  const row = (/** @type {Row} */ each) => ({ ...each, mark: change(each.mark) });
  if (description.shape === "rows") {
    const groups = description.groups.map((group) => ({
      ...group,
      rows: group.rows.map(row),
      limits: group.limits?.map(row),
    }));
    return { ...description, groups };
  }
  if (description.shape === "plane") {
    const series = description.series.map((each) => {
      const points = each.points.map(([at, mark]) => /** @type {[number, Mark]} */ ([at, change(mark)]));
      return { ...each, points };
    });
    return { ...description, series };
  }
  return { ...description, tiles: description.tiles.map((tile) => ({ ...tile, marks: tile.marks.map(change) })) };
}

/** Every mark of a chart, known or not. @param {Description} description @returns {Mark[]} */
export function marksIn(description) {
  /** @type {Mark[]} */
  const found = [];
  mapped(description, (mark) => (found.push(mark), mark));
  return found;
}

/** Whether a machine measured any of it. @param {Description} description @param {OwnMachine} machine */
export function isPartOf(description, machine) {
  return marksIn(description).some((mark) => own(machine.figures, ownName(mark)));
}

/**
 * Its forecasts for the card that the reader chose; what is not forecast for that card is left out.
 * @param {Description} description
 * @param {Card | null} card
 * @returns {Description}
 */
export function withCard(description, card) {
  if (!card) return description;
  const changed = mapped(description, (mark) => {
    if (mark.kind !== "forecast") return mark;
    const { name = "" } = mark;
    const told = own(card.figures, name);
    if (!told) return { value: null, kind: "forecast", name, own: mark.own };
    const [value, text, low, high, band] = told;
    return { ...mark, value, text, low, high, band };
  });
  if (changed.shape !== "rows") return changed.card ? { ...changed, card: card.label } : changed;
  return { ...changed, groups: changed.groups.map((group) => (group.card ? { ...group, card: card.label } : group)) };
}

/**
 * It with the row marked, of each group that the chart's check asks about, that the reader chose.
 * @param {Description} description
 * @param {string} predicted the number of an option for each row of the check, as in “1 2 1”; may be empty
 * @returns {Description}
 */
export function withGuess(description, predicted) {
  if (description.shape !== "rows" || !predicted) return description;
  const chosen = predicted.split(" ").map(Number);
  const groups = description.groups.map((group) => {
    if (!group.asked) return group;
    const best = (chosen[group.asked - 1] ?? 0) - 1;
    return { ...group, rows: group.rows.map((row, index) => (index === best ? { ...row, guess: true } : row)) };
  });
  return { ...description, groups };
}

/** The rows that the reader predicted, from top to bottom. @param {Description} description @returns {Row[]} */
export function guessesIn(description) {
  return description.shape === "rows" ? description.groups.flatMap(({ rows }) => rows.filter(({ guess }) => guess)) : [];
}

/**
 * It and what the reader's machine measured of it: more rows, more curves, more words in tiles.
 * @param {Description} description
 * @param {OwnMachine | null} machine
 * @returns {Description}
 */
export function withOwn(description, machine) {
  if (!machine) return description;
  const mine = (/** @type {Mark} */ mark) =>
    mark.by ? null : markOf(figureOf(machine, ownName(mark), mark.amount), ownName(mark), machine.label);
  if (description.shape === "rows") {
    const ownRow = (/** @type {Row} */ row) => {
      const mark = mine(row.mark);
      // What nobody but the reader measured has no card, so that its label needs none.
      const label = `${row.label.replaceAll(CARD, "GPU")}, ${YOURS}`;
      return mark ? [row, { label, color: OWN, mark, own: true }] : [row];
    };
    const groups = description.groups.map((group) => ({
      ...group,
      rows: group.rows.flatMap(ownRow),
      limits: (group.limits ?? []).flatMap(ownRow),
    }));
    return { ...description, groups };
  }
  if (description.shape === "plane") {
    const series = description.series.flatMap((each) => {
      const points = each.points.map(([at, mark]) => /** @type {[number, Mark]} */ ([at, mine(mark) ?? { value: null }]));
      if (points.every(([, mark]) => mark.value === null)) return [each];
      return [each, { ...each, label: `${each.label.replaceAll(CARD, "GPU")}, ${YOURS}`, color: OWN, points, dash: "1 3", own: true }];
    });
    return { ...description, series };
  }
  const tiles = description.tiles.map((tile) => {
    const mark = tile.marks.map(mine).find(Boolean);
    return mark ? { ...tile, words: [...tile.words, `yours: ${mark.text}`], marks: [...tile.marks, mark] } : tile;
  });
  return { ...description, tiles };
}

/** @param {Figure | undefined} figure @param {string} name @param {string} label @returns {Mark | null} */
function markOf(figure, name, label) {
  return figure ? { value: figure.value, text: figure.text, noisy: figure.noisy, name, source: figure.label ?? label } : null;
}

/**
 * What the reader's machine measured: a figure, or the time that so much work takes at its rate.
 * @param {OwnMachine} machine
 * @param {string} name
 * @param {number} [amount]
 * @returns {Figure | undefined}
 */
export function figureOf(machine, name, amount) {
  const figure = own(machine.figures, name);
  if (!figure || !amount) return figure;
  const value = amount / figure.value;
  const spread = (value * figure.spread) / figure.value;
  return { ...figure, value, spread, text: write(value, "s", spread) };
}

/**
 * @template T
 * @param {{[name: string]: T}} figures
 * @param {string} name
 * @returns {T | undefined}
 */
const own = (figures, name) => (Object.hasOwn(figures, name) ? figures[name] : undefined);
