// The race: one racer after the other at each size, and every way in which it can end.

import assert from "node:assert/strict";
import { test } from "node:test";

import { groupOf, sizeOf, tasksOf } from "../../docs/assets/elements/race/plan.js";
import { Points, Race } from "../../docs/assets/elements/race/race.js";

const FACTS = { software: false, threads: 2, build: "jspi", engine: "onnxruntime-web 1.30.0", adapter: null };
const [SMALL, LARGE] = tasksOf("lesson", 64);

/** An error as an engine throws it. */
const problem = (kind, sentence) => Object.assign(new Error(sentence), { kind });

/** An engine on a clock of its own; `time` gives the milliseconds of one operation. */
class Fake {
  constructor(racer, log, { time = () => 10, check = () => [2.3, 2.2], load, facts = {}, block, prepare } = {}) {
    Object.assign(this, { racer, log, time, check, onLoad: load, facts, onBlock: block, onPrepare: prepare, closed: 0 });
  }

  async load({ onProgress }) {
    this.log.push(`load ${this.racer}`);
    onProgress(1, 2);
    if (this.onLoad) await this.onLoad();
    return { ...FACTS, racer: this.racer, name: this.racer, ...this.facts };
  }

  async prepare(task) {
    this.log.push(`prepare ${this.racer} ${sizeOf(task)}`);
    this.task = task;
    if (this.onPrepare) await this.onPrepare(task);
    return { check: this.check(task), warmupMs: 7 };
  }

  async block(k, { read }) {
    if (this.log.at(-1) !== `${read ? "read" : "time"} ${this.racer}`) this.log.push(`${read ? "read" : "time"} ${this.racer}`);
    if (this.onBlock) await this.onBlock(this.task, k);
    return { ms: 5 + k * this.time(this.task, read), value: 0.5 };
  }

  close() {
    this.closed += 1;
  }
}

/** A race with such engines, and all that it said. */
function made({ tasks = [SMALL, LARGE], cpu = {}, gpu = {}, ...options } = {}) {
  const log = [];
  const engines = { browser_cpu: new Fake("browser_cpu", log, cpu), browser_gpu: new Fake("browser_gpu", log, gpu) };
  const heard = { progress: [], facts: [], alone: [], steps: [], sizes: [], points: [], gaps: [] };
  const listener = {
    onProgress: (racer, loaded, total) => heard.progress.push(`${racer} ${loaded}/${total}`),
    onFacts: ({ racer }) => heard.facts.push(racer),
    onAlone: (sentence, software) => heard.alone.push([sentence, software]),
    onStep: ({ task, number, count, racer, doing }) => heard.steps.push(`${number}/${count} ${sizeOf(task)} ${racer} ${doing}`),
    onPoint: (point) => heard.points.push(point),
    onGap: (gap) => heard.gaps.push(gap),
    onSize: (task) => heard.sizes.push(sizeOf(task)),
    ...options.listener,
  };
  let minutes = 0;
  const now = () => new Date(Date.UTC(2026, 10, 22, 14, minutes++));
  const race = new Race({ now, ...options, tasks, engineOf: (racer) => engines[racer], listener });
  return { race, engines, heard, log };
}

const named = (points) => points.map(({ task, racer }) => `${sizeOf(task)} ${racer}`);
const reasons = (gaps) => gaps.map(({ task, racer, reason }) => `${sizeOf(task)} ${racer}: ${reason}`);

test("at each size both get ready, and then one is timed after the other", async () => {
  const { race, engines, heard, log } = made({ tasks: [SMALL] });

  const { end, sentence } = await race.run();

  assert.deepEqual(["finished", "Finished: every size is raced."], [end, sentence]);
  assert.deepEqual(["load browser_cpu", "load browser_gpu", "prepare browser_cpu 16", "prepare browser_gpu 16", "time browser_cpu", "read browser_cpu", "time browser_gpu", "read browser_gpu"], log);
  assert.deepEqual(["browser_cpu 1/2", "browser_gpu 1/2"], heard.progress);
  assert.deepEqual(["1/1 16 browser_cpu preparing", "1/1 16 browser_gpu preparing", "1/1 16 browser_cpu timing", "1/1 16 browser_cpu reading", "1/1 16 browser_gpu timing", "1/1 16 browser_gpu reading"], heard.steps);
  assert.deepEqual([1, 1], Object.values(engines).map((engine) => engine.closed));
});

test("a point has its samples, its facts, and how long it took", async () => {
  const { race, heard } = made({ tasks: [SMALL], gpu: { time: (_, read) => (read ? 4 : 2) } });

  await race.run();

  const [cpu, gpu] = heard.points;
  assert.ok(Math.abs(gpu.time.median - 0.002) < 1e-12);
  assert.ok(Math.abs(gpu.readS - 0.004) < 1e-12);
  assert.deepEqual([16, 5, 64, true, 7, 0.5], [gpu.amount, gpu.samples.length, gpu.loops, gpu.compared, gpu.warmupMs, gpu.value]);
  assert.equal("browser_gpu", gpu.facts.name);
  assert.equal("2026-11-22T14:02:00.000Z", cpu.at, "the clock went on by a minute at each look");
  assert.equal(120, cpu.lasted);
});

test("a product is timed without reading after every operation", async () => {
  const { race, heard, log } = made({ tasks: tasksOf("products", 128) });

  await race.run();

  assert.deepEqual([null, null], heard.points.map(({ readS }) => readS));
  assert.ok(!log.some((line) => line.startsWith("read")));
});

test("where the racers come to different results, neither has a point", async () => {
  const { race, heard } = made({ gpu: { check: (task) => (task === SMALL ? [2.3, 2.21] : [2.3, 2.2001]) } });

  await race.run();

  assert.deepEqual(["64 browser_cpu", "64 browser_gpu"], named(heard.points));
  assert.match(reasons(heard.gaps).join(), /16 browser_cpu: .*not come to the same.*16 browser_gpu: .*not come to the same/);
  assert.ok(heard.gaps.every(({ refuted }) => refuted));
});

test("a result that is no number is no point, even alone", async () => {
  const { race, heard } = made({ tasks: [SMALL], cpu: { check: () => [NaN, 1] }, gpu: { load: () => Promise.reject(problem("no-webgpu", "None.")) } });

  await race.run();

  assert.match(reasons(heard.gaps).join(), /^16 browser_cpu: .*no number$/);
  assert.deepEqual([], heard.points);
});

test("noise leaves a gap for one racer alone", async () => {
  let call = -1;
  const time = () => ((call += 1) >= 6 && call % 2 === 0 ? 40 : 10); // six calls find k
  const { race, heard } = made({ tasks: [SMALL], gpu: { time } });

  await race.run();

  assert.deepEqual(["16 browser_cpu"], named(heard.points));
  assert.match(reasons(heard.gaps).join(), /^16 browser_gpu: too noisy to say/);
});

test("a racer that is too slow does not grow, and the other goes on, not compared", async () => {
  const tasks = tasksOf("lesson", 256);
  const { race, heard, log } = made({ tasks, cpu: { time: (task) => 20 * task.batch } });

  const { end } = await race.run();

  assert.equal("finished", end);
  assert.deepEqual(["16 browser_cpu", "16 browser_gpu", "64 browser_gpu", "256 browser_gpu"], named(heard.points));
  assert.match(reasons(heard.gaps).join("; "), /^64 browser_cpu: too slow.*; 256 browser_cpu: left out, since a smaller one/);
  assert.deepEqual([true, true, true, false], heard.points.map(({ compared }) => compared));
  assert.ok(!log.includes("prepare browser_cpu 256"));
});

test("a model that is too slow says nothing about another one", async () => {
  const { race, heard } = made({ tasks: tasksOf("all", 64), cpu: { time: (task) => (task.width === 64 ? 3000 : 10) } });

  await race.run();

  const cpu = heard.points.filter(({ racer }) => racer === "browser_cpu");
  assert.deepEqual(["width_256", "width_256", "width_1024", "width_1024", "width_2048", "width_2048"], cpu.map(({ task }) => groupOf(task)));
});

test("where the memory does not suffice, that racer grows no further", async () => {
  const short = (task) => (task.batch === 64 ? Promise.reject(problem("memory", "Too large.")) : undefined);
  const { race, heard } = made({ tasks: tasksOf("lesson", 256), gpu: { prepare: short } });

  const { end } = await race.run();

  assert.equal("finished", end);
  assert.deepEqual(["16 browser_cpu", "16 browser_gpu", "64 browser_cpu", "256 browser_cpu"], named(heard.points));
  assert.match(reasons(heard.gaps).join("; "), /^64 browser_gpu: .*memory.*; 256 browser_gpu: left out/);
});

test("a point stays where its memory gives out only with the loss read", async () => {
  let reading = 0;
  const time = (_, read) => {
    if (read && reading++) throw problem("memory", "Too large.");
    return 10;
  };
  const { race, heard } = made({ tasks: [SMALL], gpu: { time } });

  await race.run();

  assert.deepEqual([["16 browser_cpu", "16 browser_gpu"], null], [named(heard.points), heard.points[1].readS]);
});

for (const [kind, sentence] of [["no-webgpu", "No WebGPU here."], ["no-adapter", "No GPU here."], ["broken", "It broke."]])
  test(`with the GPU's engine ${kind}, the CPU races alone, and why is said`, async () => {
    const { race, engines, heard } = made({ gpu: { load: () => Promise.reject(problem(kind, sentence)) } });

    const { end } = await race.run();

    assert.equal("finished", end);
    assert.deepEqual([[sentence, false]], heard.alone);
    assert.deepEqual(["16 browser_cpu", "64 browser_cpu"], named(heard.points));
    assert.ok(heard.points.every(({ compared }) => !compared));
    assert.ok(engines.browser_gpu.closed > 0);
  });

test("without the CPU's engine nothing races", async () => {
  const { race, engines, heard } = made({ cpu: { load: () => Promise.reject(problem("download", "It did not come.")) } });

  assert.deepEqual({ end: "failed", sentence: "It did not come." }, await race.run());
  assert.deepEqual([], heard.steps);
  assert.ok(Object.values(engines).every(({ closed }) => closed > 0));
});

test("a software adapter races only when asked, and every point says what it is", async () => {
  const alone = made({ tasks: [SMALL], gpu: { facts: { software: true } } });
  const asked = made({ tasks: [SMALL], gpu: { facts: { software: true } }, software: true });

  await alone.race.run();
  await asked.race.run();

  assert.deepEqual(["16 browser_cpu"], named(alone.heard.points));
  assert.match(alone.heard.alone[0][0], /no GPU, so the CPU races alone/);
  assert.equal(true, alone.heard.alone[0][1]);
  assert.deepEqual([false, true], asked.heard.points.map(({ facts }) => facts.software));
});

test("a lost device ends the race in a sentence, and what was measured stays", async () => {
  const lost = (task) => (task === LARGE ? Promise.reject(problem("lost", "The GPU went away.")) : undefined);
  const { race, engines, heard } = made({ gpu: { block: lost } });

  assert.deepEqual({ end: "failed", sentence: "The GPU went away." }, await race.run());
  assert.deepEqual(["16 browser_cpu", "16 browser_gpu", "64 browser_cpu"], named(heard.points));
  assert.ok(Object.values(engines).every(({ closed }) => closed === 1));
});

for (const moment of ["load", "prepare", "block"])
  test(`Stop ends a race at once while an engine is busy with ${moment}, and closes both`, async () => {
    const never = () => new Promise(() => {});
    const { race, engines, heard } = made({ gpu: { [moment]: never } });
    const ended = race.run();
    await new Promise((resolve) => setTimeout(resolve));

    race.stop();

    assert.deepEqual({ end: "stopped", sentence: "Stopped. What was measured so far stays." }, await ended);
    assert.ok(Object.values(engines).every(({ closed }) => closed > 0));
    assert.deepEqual([], heard.points.filter(({ racer }) => racer === "browser_gpu"));
  });

test("Stop between two calls is heard too, and an engine's own complaint is not", async () => {
  const { race, engines } = made({ listener: { onPoint: () => race.stop() } });
  engines.browser_cpu.close = () => {
    engines.browser_cpu.block = () => Promise.reject(problem("stopped", "The race was stopped."));
  };

  assert.equal("stopped", (await race.run()).end);
});

test("on a hidden page nothing is measured, and a block that ended there does not count", async () => {
  let hidden = false;
  const hide = (task) => {
    hidden = task === LARGE;
  };
  const { race, heard } = made({ cpu: { block: hide }, hidden: () => hidden });

  const { end, sentence } = await race.run();

  assert.equal("hidden", end);
  assert.match(sentence, /^Stopped, since this page was out of sight/);
  assert.deepEqual(["16 browser_cpu", "16 browser_gpu"], named(heard.points));
});

test("a page that was hidden for a moment ends the race as well", async () => {
  const { race } = made({ gpu: { block: () => new Promise(() => {}) } });
  const ended = race.run();
  await new Promise((resolve) => setTimeout(resolve));

  race.stop("hidden");

  assert.equal("hidden", (await ended).end);
});

test("points of several races add up; a later one takes an older one's place", async () => {
  const points = new Points();
  const of = async (time) => {
    const { race, heard } = made({ tasks: [SMALL], cpu: { time: () => time } });
    await race.run();
    return heard.points;
  };

  for (const point of [...(await of(10)), ...(await of(20))]) points.add(point);

  assert.equal(2, points.all.length);
  assert.ok(Math.abs(points.of("width_256", "browser_cpu")[0].time.median - 0.02) < 1e-9);
  assert.deepEqual(["width_256"], points.groups);
  points.clear();
  assert.deepEqual([[], [], []], [points.all, points.gaps, points.groups]);
});

test("a gap leaves an older point alone, unless it was refuted", async () => {
  const { race, heard } = made({ tasks: [SMALL] });
  await race.run();
  const points = new Points();
  for (const point of heard.points) points.add(point);
  const gap = { task: SMALL, racer: "browser_cpu", software: false, reason: "noise", refuted: false };

  points.miss(gap);
  assert.deepEqual([2, 0], [points.all.length, points.gaps.length]);
  points.miss({ ...gap, refuted: true });
  assert.deepEqual([1, 1], [points.all.length, points.gaps.length]);
  points.add(heard.points[0]);
  assert.deepEqual([2, 0], [points.all.length, points.gaps.length]);
});
