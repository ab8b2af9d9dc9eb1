// The ledger's chart: one stacked bar, its threshold, its labels, and what the reveal lays over it.
//
// The bar is made once and then moved, so that a part that is added is seen to push the others up.

import { pattern, pixels, svg } from "./draw.js";

/**
 * @typedef {{id: string, label: string, gb: string, bytes: number, hidden: boolean}} Part
 * @typedef {{gap: string, ghost: {bytes: number, label: string} | null}} Overlay
 * @typedef {{parts: Part[], ticks: [bytes: number, label: string][], verdict: string,
 *   budget: {bytes: number, label: string}, total: string, name: string, description: string,
 *   overlay: Overlay | null, width: number}} Drawing parts: from the bottom up; width: of the chart, in pixels
 * @typedef {{id: string, name: string, gb: string, at: number, from: number}} Label
 */

/** The configuration that the reveal is about: there alone its overlay is true. */
export const COMPARED = { device: "node", optimizer: "adam", precision: "fp32", recompute: "none", batch: "1" };

const HEIGHT = 444;
export const TOP = 34;
export const BASE = 432;
export const PLOT = 398; // from the base to the top
const AXIS = 46; // what the numbers of the axis take
export const LINE = 20; // a line of text
const THIN = 5; // lower parts have no room for an outline
// Charts less wide than these have smaller columns, and labels in two lines.
const NARROW = 430;
const NARROWEST = 330;
const WIDE = 600; // more room for the bar
// What the words of the threshold keep free, above it and below.
export const ABOVE_LINE = 34;
export const BELOW_LINE = 16;

// The pattern of each part, on a tile of 8 pixels; a solid one has none.
const STROKES = {
  grads: "M-2 2l4-4M0 8l8-8M6 10l4-4",
  state2: "M-2 6l4 4M0 0l8 8M6-2l4 4",
  copies: "M-2 2l4-4M0 8l8-8M6 10l4-4M-2 6l4 4M0 0l8 8M6-2l4 4",
  activations: "M0 2h8M0 6h8",
};

/**
 * Places for labels, each as near as can be to where it wants to be, in order and a gap apart.
 * @param {number[]} wants ascending
 * @param {number} gap
 * @param {number} low
 * @param {number} high
 * @returns {number[]}
 */
export function spread(wants, gap, low, high) {
  /** @type {{sum: number, count: number}[]} */
  const blocks = [];
  const mean = (/** @type {{sum: number, count: number}} */ { sum, count }) => sum / count;
  wants.forEach((want, index) => {
    let block = { sum: want - index * gap, count: 1 };
    for (let last = blocks.at(-1); last && mean(last) > mean(block); last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  });
  const most = high - (wants.length - 1) * gap;
  const within = (/** @type {number} */ at) => (at > most ? most : at < low ? low : at);
  const starts = blocks.flatMap((block) => Array(block.count).fill(within(mean(block))));
  return starts.map((start, index) => start + index * gap);
}

/**
 * Places for labels on both sides of a line whose own words nothing may cross.
 * @param {number[]} wants ascending
 * @param {number} gap
 * @param {number} line
 * @returns {number[]}
 */
export function spreadAround(wants, gap, line) {
  const below = wants.filter((want) => want >= line);
  const lowest = BASE - gap / 2;
  const second = (gap - LINE) / 2; // half of what a second line of words takes
  // What has no room below goes above.
  while (below.length && line + BELOW_LINE + second + (below.length - 1) * gap > lowest) below.shift();
  const above = wants.slice(0, wants.length - below.length);
  return [
    ...spread(above, gap, TOP, line - ABOVE_LINE - second),
    ...spread(below, gap, line + BELOW_LINE + second, lowest),
  ];
}

export class LedgerChart {
  /** @param {string} name what the ids in it begin with */
  constructor(name) {
    const ids = { title: `${name}-name`, description: `${name}-description` };
    this.name = name;
    this.title = svg("title", { id: ids.title });
    this.description = svg("desc", { id: ids.description });
    this.grid = svg("g");
    this.bar = svg("g");
    this.over = svg("g");
    this.element = svg(
      "svg",
      { role: "img", height: HEIGHT, "aria-labelledby": ids.title, "aria-describedby": ids.description },
      this.title,
      this.description,
      svg("defs", {}, ...patterns(name)),
      this.grid,
      this.bar,
      this.over,
    );
  }

  /** @param {Drawing} drawing */
  draw(drawing) {
    const { parts, ticks, verdict, budget, total, overlay, width } = drawing;
    const end = ticks.at(-1)?.[0] ?? 1;
    const height = (/** @type {number} */ bytes) => pixels(bytes, end, PLOT);
    const ghost = overlay?.ghost ?? null;
    const place = places(width, overlay !== null, ghost !== null);
    this.element.setAttribute("class", `ledger-chart ${verdict}`);
    this.title.textContent = drawing.name;
    this.description.textContent = drawing.description;
    this.grid.replaceChildren(...axis(ticks, height));

    const boxes = stack(parts, height);
    this.#bar(boxes, place);
    const top = boxes.at(-1)?.top ?? BASE;
    const line = BASE - height(budget.bytes);
    const state = boxes.filter(({ part }) => part.id.startsWith("state"));
    const over = [...threshold(line, budget.label), totalWords(place, top, line, total, width)];
    if (verdict === "fits_if_grads_freed") over.unshift(frame("ledger-caution", place, top, 3));
    const labels = boxes
      .filter(({ part, top, bottom }) => !part.hidden && top < bottom)
      .map(({ part, top, bottom }) => ({ ...part, name: part.label, at: (top + bottom) / 2, from: place.end }));
    const [first, last] = [state[0], state.at(-1)];
    if (overlay && first && last) {
      over.push(bracket(place.end + 5, last.top, first.bottom));
      const at = (last.top + first.bottom) / 2;
      labels.push({ ...first.part, id: "gap", name: overlay.gap, gb: "", at, from: place.end + 12 });
      if (ghost) over.push(...ghostBar(place, first.bottom, height(ghost.bytes), ghost.label));
    }
    this.over.replaceChildren(...over, ...labelled(labels, place.labels, line, width));
    fit(this.over, width - place.labels);
  }

  /** @param {Box[]} boxes @param {Place} place */
  #bar(boxes, place) {
    if (!this.bar.childElementCount)
      this.bar.append(
        frame("ledger-frame", place, BASE, 0),
        ...boxes.map(({ part }) => svg("rect", { class: `ledger-part ${part.id}`, fill: fillOf(this.name, part.id) })),
      );
    const [whole, ...rects] = this.bar.children;
    const top = boxes.at(-1)?.top ?? BASE;
    set(whole, { x: place.bar, width: place.width, y: top, height: BASE - top });
    boxes.forEach(({ part, top, bottom }, index) => {
      const thin = bottom - top < THIN;
      // The outline lies inside, so that a part is as tall as its bytes.
      const inset = thin ? 0 : 1;
      set(rects[index], {
        x: place.bar + inset,
        width: place.width - 2 * inset,
        y: top + inset,
        height: bottom - top - 2 * inset,
      });
      rects[index]?.classList.toggle("thin", thin);
      rects[index]?.classList.toggle("away", part.hidden || part.bytes === 0);
    });
  }
}

/** @param {Element | undefined} element @param {{[name: string]: number}} attributes */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element?.setAttribute(name, String(value));
}

/** @param {string} name @param {string} part */
export const fillOf = (name, part) => `url(#${name}-${part})`;

/**
 * Which columns the chart has, in pixels.
 * @typedef {{ghost: number, ghostWidth: number, bar: number, width: number, end: number, labels: number}} Place
 * @param {number} all the width of the chart
 * @param {boolean} overlaid
 * @param {boolean} ghost
 * @returns {Place}
 */
function places(all, overlaid, ghost) {
  const narrow = all < NARROW;
  const ghostWidth = narrow ? 52 : 64;
  const bar = ghost ? AXIS + 14 + ghostWidth : AXIS + (narrow ? 10 : 16);
  const width = barWidth(all, overlaid, ghost);
  const end = bar + width;
  return { ghost: AXIS + 6, ghostWidth, bar, width, end, labels: end + (narrow ? 26 : 48) };
}

/** @param {number} all @param {boolean} overlaid @param {boolean} ghost */
function barWidth(all, overlaid, ghost) {
  if (all < NARROW) return overlaid ? 46 : 74;
  if (all >= WIDE) return 148;
  return ghost ? 84 : 108;
}

/**
 * @typedef {{part: Part, top: number, bottom: number}} Box
 * @param {Part[]} parts
 * @param {(bytes: number) => number} height
 * @returns {Box[]}
 */
function stack(parts, height) {
  let bottom = BASE;
  return parts.map((part) => {
    const box = { part, bottom, top: bottom - height(part.bytes) };
    bottom = box.top;
    return box;
  });
}

/** @param {string} name */
function patterns(name) {
  const all = { params: "", grads: "", master: "", state1: "", state2: "", copies: "", activations: "" };
  return Object.keys(all).map((part) => {
    const strokes = /** @type {{[part: string]: string}} */ (STROKES)[part];
    const solid = !strokes && part !== "master";
    const dots = part === "master" ? [2, 6].map((at) => svg("circle", { cx: at, cy: at, r: 1.5 })) : [];
    const ground = svg("rect", { class: solid ? "solid" : "tint", width: 8, height: 8 });
    return pattern(`${name}-${part}`, 8, { class: `ledger-ink ${part}` }, ground, strokes ? svg("path", { d: strokes }) : null, ...dots);
  });
}

/** @param {Drawing["ticks"]} ticks @param {(bytes: number) => number} height */
function axis(ticks, height) {
  const lines = ticks.flatMap(([bytes, label], index) => {
    const y = BASE - height(bytes);
    return [
      svg("line", { class: index ? "ledger-grid" : "ledger-base", x1: AXIS, x2: "100%", y1: y, y2: y }),
      svg("text", { class: "muted end", x: AXIS - 8, y: y + 5 }, label),
    ];
  });
  return [...lines, svg("text", { class: "muted end", x: AXIS - 8, y: TOP - 16 }, "GB")];
}

/** @param {number} y @param {string} label */
function threshold(y, label) {
  const ends = { x1: AXIS, x2: "100%", y1: y, y2: y };
  return [
    svg("line", { class: "ledger-halo", ...ends }),
    svg("line", { class: "ledger-threshold", ...ends }),
    svg("text", { class: "strong end ledger-budget", x: "100%", y: y - 8 }, label),
  ];
}

/**
 * The total above the bar, but not on the threshold; in two lines, so that it ends before the labels.
 * @param {Place} place @param {number} top @param {number} line @param {string} words @param {number} all
 */
function totalWords({ bar, width }, top, line, words, all) {
  const x = bar + width / 2;
  const onLine = line > top - LINE - 4 && line < top;
  const y = onLine ? line - 8 : top - 8;
  const lines = words.split(/(?<=:) /);
  const made = lines.map((each, index) => svg("tspan", { x, y: y - (lines.length - 1 - index) * 17 }, each));
  return svg("text", { class: `strong middle ledger-total${all < NARROW ? " small" : ""}` }, ...made);
}

/** @param {string} name @param {Place} place @param {number} top @param {number} around */
function frame(name, { bar, width }, top, around) {
  return svg("rect", {
    class: name,
    ...{ x: bar - around, width: width + 2 * around, y: top - around, height: BASE - top + around },
  });
}

/** @param {number} x @param {number} top @param {number} bottom */
const bracket = (x, top, bottom) => svg("path", { class: "ledger-bracket", d: `M${x} ${top + 1}h6V${bottom - 1}h-6` });

/**
 * What the learner predicted, from the top of SGD's stack.
 * @param {Place} place @param {number} bottom @param {number} height @param {string} label
 */
function ghostBar({ ghost, ghostWidth }, bottom, height, label) {
  const top = bottom - height;
  const middle = ghost + ghostWidth / 2;
  const words = label.split(" ");
  const lines = words.map((word, index) => {
    const y = top - 8 - (words.length - 1 - index) * 16;
    return svg("text", { class: "middle ledger-ghost-words", x: middle, y }, word);
  });
  return [svg("rect", { class: "ledger-ghost", x: ghost, width: ghostWidth, y: top, height }), ...lines];
}

/**
 * Draw labels closer where the reader's font is so wide that they would leave the chart.
 * @param {SVGElement} within @param {number} room in pixels
 */
function fit(within, room) {
  for (const label of within.querySelectorAll(".ledger-label")) {
    const lines = /** @type {NodeListOf<SVGTextContentElement>} */ (label.querySelectorAll("tspan[x]"));
    for (const line of lines.length ? lines : [/** @type {SVGTextElement} */ (label)])
      if (line.getComputedTextLength() > room) {
        line.setAttribute("textLength", String(room));
        line.setAttribute("lengthAdjust", "spacingAndGlyphs");
      }
  }
}

/**
 * The labels beside the bar, each with a line to its part.
 * @param {Label[]} labels @param {number} x @param {number} line @param {number} width
 */
function labelled(labels, x, line, width) {
  const ordered = [...labels].sort((one, other) => one.at - other.at);
  const gap = width < NARROWEST ? 31 : LINE;
  const wants = ordered.map(({ at }) => at);
  return spreadAround(wants, gap, line).flatMap((y, index) => {
    const label = ordered[index];
    if (!label) return [];
    const { at, from, name, gb, id } = label;
    const start = from + 4;
    const turn = x - 14;
    const lead = svg("path", {
      class: "ledger-lead",
      d: start < turn ? `M${start} ${at}H${start + (turn - start) / 4}L${turn} ${y}H${x - 5}` : `M${start} ${at}L${x - 5} ${y}`,
    });
    return [lead, words(id, x, y + 5, name, gb, width)];
  });
}

/** @param {string} id @param {number} x @param {number} y @param {string} name @param {string} gb @param {number} width */
function words(id, x, y, name, gb, width) {
  const made = svg("text", { class: `ledger-label ${id}${width < NARROW ? " small" : ""}`, x, y });
  if (width >= NARROWEST) {
    made.append(name, gb && " ", svg("tspan", { class: "strong" }, gb));
    return made;
  }
  // In two lines; a name without a number is cut before its bracket.
  const [first = "", second = ""] = gb ? [name, gb] : name.split(/ (?=\()/);
  made.append(
    svg("tspan", { x, y: y - 7 }, first),
    svg("tspan", { x, y: y + 7, class: gb && "strong" }, second),
  );
  return made;
}
