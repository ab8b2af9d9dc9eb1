// What Plotly is handed: a chart's figure in the colours of the page, with the reader's own machine
// beside what was recorded. Pure: values in, values out.

/** @typedef {import("./own-machine.js").OwnMachine} OwnMachine */
/** @typedef {{[name: string]: any}} Fields traces and layouts, as Plotly's reference describes them */
/** @typedef {{data: Fields[], layout: Fields}} Plot */

/**
 * @typedef {object} Look
 * @property {string} ink
 * @property {string} muted
 * @property {string} rule
 * @property {string} paper
 * @property {string[]} series the palette's colours for values, the first one for number 1
 * @property {string} font
 * @property {number} width of the chart in pixels
 * @property {boolean} touch whether a finger points, so that dragging has to scroll the page
 */

const OWN = 4; // the number of the colour of the reader's machine
const NARROW = 560; // pixels
const LINE = 18; // pixels of a line of text
const AXES = 110; // pixels above and below the bars
// Nothing leads to another host, and nothing can be reached by keyboard that only a mouse can use.
const CONFIG = {
  responsive: true,
  displaylogo: false,
  displayModeBar: false,
  showTips: false,
  plotlyServerURL: "",
  topojsonURL: "",
};
const OWN_BELOW = 0.8; // of a heat map's row: where the reader's value stands in a cell

/**
 * @param {Plot} plot as Python wrote it
 * @param {Look} look
 * @param {OwnMachine | null} machine
 * @returns {Plot & {config: Fields}}
 */
export function dressed(plot, look, machine) {
  const own = machine ? plot.data.flatMap((trace) => ownTrace(trace, machine) ?? []) : [];
  const named = look.width < NARROW ? own.map((trace) => ({ ...trace, name: wrapped(trace.name) })) : own;
  const data = [...plot.data, ...named].map((trace) => coloured(trace, look));
  return { data, layout: laidOut(plot.layout, look, data, own.length), config: CONFIG };
}

/**
 * The same trace for the reader's machine; null if it measured none of its points.
 * @param {Fields} trace
 * @param {OwnMachine} machine
 * @returns {Fields | null}
 */
export function ownTrace(trace, machine) {
  if (!trace.customdata) return null;
  /** @type {string[]} */
  const names = trace.customdata;
  const figures = names.map((name) =>
    Object.hasOwn(machine.figures, name) ? machine.figures[name] : undefined,
  );
  if (!figures.some(Boolean)) return null;
  const label = plain(machine.label);
  const recorded = trace.name.replace(/ \(not measured yet\)$/, "");
  const texts = figures.map((figure) => (figure ? plain(figure.text) : ""));
  const own = {
    name: isTiles(trace) ? label : `${recorded}, ${label}`,
    hovertext: texts.map((text) => text && `${label}<br>${text}`),
    hoverinfo: "text",
    meta: OWN,
  };
  if (isTiles(trace)) {
    const y = trace.base.map((/** @type {number} */ base) => base + OWN_BELOW);
    return { ...own, type: "scatter", mode: "text", x: trace.x, y, text: texts, showlegend: true };
  }
  const values = figures.map((figure) => figure?.value ?? null);
  const along = trace.orientation === "h" || isWords(trace.y) ? "x" : "y";
  const { text, ...rest } = trace;
  return { ...rest, ...own, [along]: values, ...(text ? { text: texts } : {}), ...marked(trace) };
}

/** Whether a trace is a heat map: bars that all have the same length. @param {Fields} trace */
const isTiles = (trace) => trace.base !== undefined;

/** Own values are told apart without colour too: hollow bars, dotted lines. @param {Fields} trace @returns {Fields} */
function marked(trace) {
  if (trace.type === "bar") return { offsetgroup: `own ${trace.offsetgroup}` };
  return { line: { ...trace.line, dash: "dot" }, marker: { symbol: "diamond-open", size: 9 } };
}

/** A long name on several lines. @param {string} name */
const wrapped = (name) => name.replace(/(.{1,38})(\s+|$)/g, "$1<br>").replace(/<br>$/, "");

/** @param {unknown[]} values */
const isWords = (values) => typeof values[0] === "string";

/** A reader's text, in which Plotly must find no markup. @param {string} text */
const plain = (text) =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] ?? "");

/** @param {Fields} trace @param {Look} look @returns {Fields} */
function coloured(trace, look) {
  /** @param {number} number */
  const color = (number) => look.series[number - 1] ?? look.ink;
  if (isTiles(trace)) {
    const tints = trace.meta.colors.map((/** @type {number} */ number, /** @type {number} */ index) =>
      mixed(look.paper, color(number), trace.meta.strengths[index]),
    );
    const middle = { textposition: "inside", insidetextanchor: "middle", insidetextfont: { color: look.ink } };
    return { ...trace, marker: { color: tints }, textangle: 0, constraintext: "none", ...middle };
  }
  const marker = { ...trace.marker, color: color(trace.meta) };
  if (trace.type === "bar") {
    const own = trace.meta === OWN;
    const place = { textposition: "auto", textangle: 0, cliponaxis: false, constraintext: "none" };
    const fonts = { insidetextfont: { color: own ? look.ink : look.paper }, outsidetextfont: { color: look.ink } };
    const hollow = { color: mixed(look.paper, color(OWN), 0.25), line: { color: color(OWN), width: 2 } };
    return { ...trace, ...place, ...fonts, marker: own ? hollow : marker };
  }
  const line = { width: 3, ...trace.line, color: color(trace.meta) };
  return { ...trace, line, marker: { size: 8, ...marker }, textfont: { color: color(trace.meta), size: look.width < NARROW ? 10 : 12 } };
}

/**
 * @param {Fields} layout
 * @param {Look} look
 * @param {Fields[]} data
 * @param {number} own how many traces are the reader's
 * @returns {Fields}
 */
function laidOut(layout, look, data, own) {
  const narrow = look.width < NARROW;
  const legend = narrow ? LINE * Math.max(0, data.length + own - 2) : 0;
  /** @type {string[] | undefined} what stands beside horizontal bars */
  const lines = layout.yaxis.categoryarray;
  const more = (lines?.length ?? 0) * LINE * (Number(narrow) + Number(own > 0));
  const height = layout.height + more;
  const mine = data.filter((trace) => trace.meta === OWN);
  /** @param {Fields} axis @param {"x" | "y"} name @returns {Fields} */
  const axis = (axis, name) => ({
    automargin: true,
    gridcolor: look.rule,
    linecolor: look.rule,
    zeroline: false,
    ticks: "",
    ...axis,
    ...(axis.range ? { range: widened(axis, mine.flatMap((trace) => trace[name])) } : {}),
    title: { ...axis.title, standoff: 8 },
    tickfont: { color: look.ink, size: narrow ? 11 : 13 },
  });
  return {
    barmode: "group",
    bargap: narrow ? (own ? 0.45 : 0.6) : 0.25,
    hovermode: "closest",
    dragmode: look.touch ? false : "zoom",
    ...layout,
    height: height + legend,
    autosize: true,
    margin: { l: 8, r: 12, t: 8, b: 8 },
    font: { family: look.font, size: 13, color: look.ink },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    xaxis: axis(layout.xaxis, "x"),
    yaxis: { ...axis(layout.yaxis, "y"), ...(lines && narrow ? { showticklabels: false } : {}) },
    annotations: lines && narrow ? above(lines, height) : [],
    shapes: (layout.shapes ?? []).map((/** @type {Fields} */ shape) => ({
      ...shape,
      line: { ...shape.line, color: look.ink },
    })),
    legend: { orientation: "h", x: 0, y: 1.02, xanchor: "left", yanchor: "bottom" },
    hoverlabel: { bgcolor: look.paper, bordercolor: look.muted, font: { color: look.ink }, align: "left" },
  };
}

/**
 * An axis' ends, further out where the reader's values lie beyond them.
 * @param {Fields} axis
 * @param {unknown[]} values
 * @returns {number[]}
 */
function widened({ range: [first, last], type }, values) {
  const numbers = values.filter((value) => typeof value === "number");
  const places = type === "log" ? numbers.map(Math.log10) : numbers;
  const [low, high] = [Math.min(first, last), Math.max(first, last)];
  const room = 0.04 * (high - low);
  const ends = [Math.min(low, ...places.map((at) => at - room)), Math.max(high, ...places.map((at) => at + room))];
  return first < last ? ends : ends.reverse();
}

/**
 * Where there is no room beside bars, what stands beside them moves above them.
 * @param {string[]} lines
 * @param {number} height of the drawing without its legend
 * @returns {Fields[]}
 */
function above(lines, height) {
  const yshift = (height - AXES) / lines.length / 2 - LINE / 2;
  const place = { xref: "paper", x: 0, xanchor: "left", yanchor: "middle", yshift, showarrow: false };
  return lines.map((line) => ({ ...place, y: line, text: line }));
}

/**
 * A colour between two others; both are written #rrggbb or #rgb.
 * @param {string} from
 * @param {string} to
 * @param {number} share of the second
 */
export function mixed(from, to, share) {
  const [first, second] = [from, to].map(channels);
  if (!first || !second) return to;
  const parts = first.map((value, index) => Math.round(value + share * ((second[index] ?? 0) - value)));
  return `#${parts.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** @param {string} color */
function channels(color) {
  const digits = /^#([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(color.trim())?.[1];
  if (!digits) return null;
  const wide = digits.length === 3 ? digits.replace(/./g, "$&$&") : digits;
  return [0, 2, 4].map((at) => parseInt(wide.slice(at, at + 2), 16));
}
