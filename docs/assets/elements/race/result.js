// The race as a result file, such as the benchmark job writes. Pure.
//
// results/result_file.py says what a good one is; a test gives it what is made here. A program
// that stands in for a GPU was not asked for, so nothing of it goes into the file.

import { groupOf, nameOf } from "./plan.js";
import { rate, write } from "../quantities.js";

/** @typedef {import("./race.js").Point} Point */
/**
 * What is known of the browser.
 * @typedef {object} Browser
 * @property {number} [hardwareConcurrency]
 * @property {string} [userAgent]
 * @property {{platform?: string, brands?: {brand: string, version: string}[]}} [userAgentData]
 */

const VERSION = 2;
const LONGEST_NAME = 120;
const NONE = "none";
const PRECISION = {
  float32_matmul: "highest",
  ...{ cuda_matmul_tf32: false, cudnn_tf32: false, cudnn_benchmark: false },
  ...{ float16_reduced_sums: false, bfloat16_reduced_sums: false },
};
// Browsers that call themselves others as well come first.
/** @type {[name: string, version: RegExp][]} */
const BROWSERS = [
  ["Edge", /Edg\w*\/(\d+)/],
  ["Opera", /OPR\/(\d+)/],
  ["Firefox", /Firefox\/(\d+)/],
  ["Chrome", /(?:Chrome|CriOS)\/(\d+)/],
  ["Safari", /Version\/(\d+).*Safari/],
];
/** @type {[name: string, found: RegExp][]} */
const SYSTEMS = [
  ["Windows", /Windows/],
  ["Android", /Android/],
  ["iOS", /iPhone|iPad/],
  ["ChromeOS", /Cr[O]S/],
  ["macOS", /Mac OS X|Macintosh/],
  ["Linux", /Linux|X11/],
];

/** The points that a file holds. @param {Point[]} points */
export const fileable = (points) => points.filter(({ facts }) => !facts.software);

/**
 * @param {Point[]} points
 * @param {Browser} browser
 * @param {Date} now
 */
export function resultFile(points, browser, now) {
  const kept = fileable(points);
  /** @type {{[part: string]: Point[]}} */
  const parts = {};
  for (const point of kept) (parts[nameOf(point.task)] ??= []).push(point);
  return {
    version: VERSION,
    provenance: provenanceOf(kept, browser, now),
    cases: { race: Object.fromEntries(Object.entries(parts).map(([name, all]) => [name, partOf(all)])) },
    figures: Object.fromEntries(kept.map((point) => [`race.${entryName(point)}`, figureOf(point)])),
  };
}

/** @param {Date} now */
export const fileName = (now) => `race-${dayOf(now)}.json`;

/** @param {Date} now */
const dayOf = (now) => now.toISOString().slice(0, 10);

/** @param {Point} point */
const entryName = ({ task, racer }) => `${nameOf(task)}.${racer}`;

/** @param {Point[]} points @param {Browser} browser @param {Date} now */
function provenanceOf(points, browser, now) {
  const cpu = points.find(({ racer }) => racer === "browser_cpu");
  const gpu = points.find(({ racer }) => racer === "browser_gpu");
  const any = cpu ?? gpu;
  return {
    machine: "browser",
    processor: "WebAssembly",
    cores: browser.hardwareConcurrency ?? any?.facts.threads ?? 1,
    threads: any?.facts.threads ?? 1,
    gpu: gpu ? plain(gpu.facts.adapter ?? "GPU without a name") : null,
    ...{ gpu_details: null, cuda: null },
    system: plain(systemOf(browser)),
    ...{ python: NONE, torch: NONE, torchvision: NONE, numpy: NONE },
    engine: plain(any?.facts.engine ?? ""),
    precision: PRECISION,
    date: lastOf(points).slice(0, 10) || dayOf(now),
    ...{ commit: null, quick: false },
  };
}

/** Text on one line without what no name in a result file may have. @param {string} text */
function plain(text) {
  const short = text.replace(/[\u0000-\u001f\u007f/\\<>\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim().slice(0, LONGEST_NAME);
  return short || "unknown";
}

/** Such as "Chrome 156, Linux". @param {Browser} browser */
export function systemOf({ userAgent = "", userAgentData }) {
  const named = userAgentData?.brands?.filter(({ brand }) => !/not.?a.?brand/i.test(brand)) ?? [];
  const own = named.find(({ brand }) => brand !== "Chromium") ?? named[0];
  const [name, version] = BROWSERS.find(([, pattern]) => pattern.test(userAgent)) ?? [];
  const fallback = name ? `${name} ${version?.exec(userAgent)?.[1]}` : "unknown browser";
  const system = userAgentData?.platform || SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0] || "unknown system";
  return `${own ? `${own.brand.replace(/^(Google|Microsoft) /, "")} ${own.version}` : fallback}, ${system}`;
}

/** When the last of them was finished. @param {Point[]} points */
const lastOf = (points) => points.map(({ at }) => at).sort().at(-1) ?? "";

/** @param {Point[]} points of one size */
function partOf(points) {
  return {
    finished: `${lastOf(points).slice(0, 16)}Z`,
    took_s: points.reduce((sum, { lasted }) => sum + lasted, 0),
    load_average: null,
    entries: Object.fromEntries(points.map((point) => [entryName(point), entryOf(point)])),
  };
}

/** @param {Point} point */
function entryOf({ task, racer, facts, samples, time, loops, amount, readS, value }) {
  const { kind, ...sizes } = task;
  const named = "batch" in sizes ? { width: sizes.width, batch_size: sizes.batch } : sizes;
  const isStep = kind === "step";
  return {
    ...{ unit: "s", device: racer === "browser_gpu" ? "webgpu" : "cpu" },
    ...time,
    samples,
    loops,
    ...(isStep ? { loss: value } : {}),
    amount,
    settings: { ...named, threads: facts.threads, ...(readS === null ? {} : { read_every_step_s: readS }) },
  };
}

/** @param {Point} point */
function figureOf({ task, amount, time }) {
  const { value, spread, noisy } = rate(amount, time);
  const unit = groupOf(task) === "product" ? "flop_per_s" : "samples_per_s";
  return { value, spread, noisy, text: write(value, unit, spread) };
}
