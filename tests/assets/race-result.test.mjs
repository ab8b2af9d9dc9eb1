// The race's result file: its form, what it says of the browser, and what stays out of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { validate } from "../../node_modules/@cfworker/json-schema/dist/esm/validate.js";

import { readResult } from "../../docs/assets/elements/result-file.js";
import { amountOf, summary, tasksOf } from "../../docs/assets/elements/race/plan.js";
import { fileName, resultFile, systemOf } from "../../docs/assets/elements/race/result.js";

const schema = JSON.parse(readFileSync(new URL("../../results/schema.json", import.meta.url), "utf8"));
const NOW = new Date("2026-11-22T23:59:00Z");
const BROWSER = { hardwareConcurrency: 8, userAgent: "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0 Safari/537.36" };
const [STEP] = tasksOf("lesson");
const [PRODUCT] = tasksOf("products");

function point(task, racer, samples, more = {}) {
  const gpu = racer === "browser_gpu";
  const facts = { racer, name: gpu ? "GPU nvidia ampere (WebGPU)" : "CPU", adapter: gpu ? "nvidia ampere" : null, software: false, threads: 4, build: "jspi", engine: "onnxruntime-web 1.30.0", ...more.facts };
  return { task, racer, samples, amount: amountOf(task), time: summary(samples), loops: 8, readS: null, compared: true, warmupMs: 1500, value: 1.5, lasted: 2, at: "2026-11-22T14:00:31.000Z", ...more, facts };
}

const SAMPLES = [0.002, 0.0021, 0.0019, 0.002, 0.00205];

test("a file has a part for each size, with both racers in it", () => {
  const later = { at: "2026-11-22T14:01:02.000Z", lasted: 3, readS: 0.004 };
  const { version, cases, figures } = resultFile([point(STEP, "browser_cpu", SAMPLES), point(STEP, "browser_gpu", SAMPLES, later), point(PRODUCT, "browser_cpu", SAMPLES)], BROWSER, NOW);

  const part = cases.race["width_256.batch_16"];
  assert.equal(2, version);
  assert.deepEqual(["width_256.batch_16", "product.n_128"], Object.keys(cases.race));
  assert.deepEqual(["2026-11-22T14:01Z", 5, null], [part.finished, part.took_s, part.load_average]);
  assert.deepEqual(
    { unit: "s", device: "webgpu", ...summary(SAMPLES), samples: SAMPLES, loops: 8, loss: 1.5, amount: 16, settings: { width: 256, batch_size: 16, threads: 4, read_every_step_s: 0.004 } },
    part.entries["width_256.batch_16.browser_gpu"],
  );
  const product = cases.race["product.n_128"].entries["product.n_128.browser_cpu"];
  assert.deepEqual(["cpu", 2 * 128 ** 3, { n: 128, threads: 4 }, undefined], [product.device, product.amount, product.settings, product.loss]);
  assert.equal(3, Object.keys(figures).length);
  assert.equal(8000, figures["race.width_256.batch_16.browser_cpu"].value);
  assert.match(figures["race.product.n_128.browser_cpu"].text, /GFLOP\/s$/);
});

test("it says where it was measured", () => {
  const { provenance } = resultFile([point(STEP, "browser_cpu", SAMPLES), point(STEP, "browser_gpu", SAMPLES)], BROWSER, NOW);

  assert.deepEqual(
    ["browser", "WebAssembly", 8, 4, "nvidia ampere", null, "Chrome 156, Linux", "none", "onnxruntime-web 1.30.0", "2026-11-22"],
    ["machine", "processor", "cores", "threads", "gpu", "gpu_details", "system", "torch", "engine", "date"].map((name) => provenance[name]),
  );
  assert.equal("race-2026-11-22.json", fileName(NOW));
});

test("points of an earlier visit keep their day", () => {
  const later = new Date("2026-12-24T12:00:00Z");

  assert.equal("2026-11-22", resultFile([point(STEP, "browser_cpu", SAMPLES)], BROWSER, later).provenance.date);
});

test("an adapter without a name is a GPU without a name, and no adapter is none", () => {
  const gpu = (points) => resultFile(points, BROWSER, NOW).provenance.gpu;

  assert.equal("GPU without a name", gpu([point(STEP, "browser_gpu", SAMPLES, { facts: { adapter: null } })]));
  assert.equal(null, gpu([point(STEP, "browser_cpu", SAMPLES)]));
  assert.equal("a b", gpu([point(STEP, "browser_gpu", SAMPLES, { facts: { adapter: "a/<b>\n" } })]));
});

test("nothing of a software adapter goes into the file", () => {
  const software = point(STEP, "browser_gpu", SAMPLES, { facts: { software: true, name: "software WebGPU adapter (swiftshader), not a GPU", adapter: "swiftshader" } });
  const all = JSON.stringify(resultFile([point(STEP, "browser_cpu", SAMPLES), software, { ...software, task: PRODUCT }], BROWSER, NOW));

  assert.ok(!/browser_gpu|software|swiftshader|webgpu|product/i.test(all), all);
});

test("a browser is named by what it tells, and plainly", () => {
  const brands = [{ brand: "Not A(Brand", version: "9" }, { brand: "Chromium", version: "156" }, { brand: "Google Chrome", version: "156" }];
  const agent = (userAgent) => systemOf({ userAgent });

  assert.equal("Chrome 156, macOS", systemOf({ userAgent: "", userAgentData: { brands, platform: "macOS" } }));
  assert.equal("Chromium 156, Linux", systemOf({ userAgent: "", userAgentData: { brands: brands.slice(0, 2), platform: "Linux" } }));
  assert.equal("Firefox 153, Windows", agent("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:153.0) Gecko/20100101 Firefox/153.0"));
  assert.equal("Safari 26, macOS", agent("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15"));
  assert.equal("Safari 26, iOS", agent("Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1"));
  assert.equal("Edge 156, Windows", agent("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0"));
  assert.equal("Chrome 156, Android", agent("Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36"));
  assert.equal("unknown browser, unknown system", systemOf({}));
});

test("the page that compares machines takes the file", () => {
  const points = [...tasksOf("all"), ...tasksOf("products")].flatMap((task) => [point(task, "browser_cpu", SAMPLES), point(task, "browser_gpu", [0.01, 0.002, 0.004], { readS: 0.1 })]);
  const file = resultFile(points, { ...BROWSER, userAgent: "<a/b>\\", userAgentData: { platform: "x".repeat(500) } }, NOW);
  const known = new Set(Object.keys(file.figures));

  const { figures, ignored } = readResult(new TextEncoder().encode(JSON.stringify(file)), { schema, validate, known });

  assert.deepEqual([52, []], [Object.keys(figures).length, ignored]);
  assert.ok(figures["race.product.n_128.browser_gpu"].noisy);
});
