// The engine of the race, without a device: one thing at a time, every end told, adapters named.

import assert from "node:assert/strict";
import { test } from "node:test";

import { matrices } from "../../docs/assets/elements/race/data.js";
import { Engine, EngineError } from "../../docs/assets/elements/race/engine.js";
import { adapterFacts, graphOf, problemOf } from "../../docs/assets/elements/race/ort-session.js";

const FACTS = { racer: "browser_cpu", name: "CPU", threads: 1 };
const TASK = { kind: "step", width: 256, batch: 64 };

/** An engine with a worker that does nothing by itself. */
function made(silenceMs = 10_000, choice = { build: "jspi" }) {
  const worker = { sent: [], ended: false, onmessage: null, onerror: null };
  worker.postMessage = (message) => worker.sent.push(message);
  worker.terminate = () => (worker.ended = true);
  worker.say = (data) => worker.onmessage({ data });
  const engine = new Engine("browser_cpu", () => worker, choice, silenceMs);
  return { engine, worker };
}

/** Once everything that waits for nothing else has run. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

/** How a promise was rejected: kind and sentence. */
const rejection = (promise) =>
  promise.then(
    () => assert.fail("it was kept"),
    (error) => {
      assert.ok(error instanceof EngineError);
      return [error.kind, error.message];
    },
  );

test("loading hands on the progress, and then what the racer is", async () => {
  const { engine, worker } = made();
  const heard = [];
  const facts = engine.load({ onProgress: (...bytes) => heard.push(bytes) });
  await settled();

  worker.say({ id: 1, kind: "progress", loaded: 5, total: 10 });
  worker.say({ id: 1, kind: "progress", loaded: 10, total: 10 });
  worker.say({ id: 1, kind: "done", value: FACTS });

  assert.deepEqual(FACTS, await facts);
  assert.deepEqual([[5, 10], [10, 10]], heard);
  assert.deepEqual([{ id: 1, call: "load", racer: "browser_cpu", build: "jspi", verbose: false }], worker.sent);
});

test("the worker never has two things to do, and a failure is of one call alone", async () => {
  const { engine, worker } = made();
  const first = engine.prepare(TASK);
  const second = engine.block(8, { read: true });
  const third = engine.block(2);
  await settled();
  assert.deepEqual([{ id: 1, call: "prepare", task: TASK }], worker.sent);

  worker.say({ id: 1, kind: "failed", error: { kind: "memory", sentence: "Too large." } });
  assert.deepEqual(["memory", "Too large."], await rejection(first));
  await settled();
  assert.deepEqual({ id: 2, call: "block", steps: 8, read: true }, worker.sent.at(-1));
  worker.say({ id: 1, kind: "done", value: "of the call before" });
  worker.say({ id: 2, kind: "done", value: { ms: 1, value: 2 } });
  assert.deepEqual({ ms: 1, value: 2 }, await second);
  await settled();

  assert.deepEqual({ id: 3, call: "block", steps: 2, read: false }, worker.sent.at(-1));
  worker.say({ id: 3, kind: "done", value: { ms: 3, value: 4 } });
  assert.deepEqual({ ms: 3, value: 4 }, await third);
});

test("closing tells those who wait, those in the queue and those who come later", async () => {
  const { engine, worker } = made();
  const load = engine.load();
  const queued = engine.prepare(TASK);
  await settled();

  engine.close();
  engine.close();

  assert.ok(worker.ended);
  for (const promise of [load, queued, engine.block(1)]) {
    assert.deepEqual(["stopped", "The race was stopped."], await rejection(promise));
  }
  assert.equal(1, worker.sent.length);
  worker.say({ id: 1, kind: "done", value: FACTS }); // nobody hears it
});

test("closing an engine that never began starts no worker", async () => {
  let spawned = 0;
  const engine = new Engine("browser_cpu", () => (spawned += 1));

  engine.close();

  assert.deepEqual(["stopped", "The race was stopped."], await rejection(engine.load()));
  assert.equal(0, spawned);
});

test("a lost device ends the engine", async () => {
  const { engine, worker } = made();
  const block = engine.block(4);
  await settled();

  worker.say({ kind: "ended", error: { kind: "lost", sentence: "The GPU is gone." } });

  assert.ok(worker.ended);
  assert.deepEqual(["lost", "The GPU is gone."], await rejection(block));
  assert.deepEqual(["lost", "The GPU is gone."], await rejection(engine.block(4)));
});

test("a worker that is forbidden, breaks down or says nothing is told in a sentence", async () => {
  const forbidden = new Engine("browser_cpu", () => {
    throw new DOMException("no worker on file://", "SecurityError");
  });
  const failing = made();
  const breaking = made();
  const silent = made(5);
  const refused = failing.engine.load();
  const broken = breaking.engine.load();
  await settled();
  failing.worker.onerror({});
  breaking.worker.say({ id: 1, kind: "progress", loaded: 1, total: 2 });
  breaking.worker.onerror({});

  const said = [forbidden.load(), refused, broken, silent.engine.load()].map(rejection);

  const web = "This browser starts no engine here; open the page from a web server, as `make serve` starts one.";
  const [first, second, third, fourth] = await Promise.all(said);
  assert.deepEqual([["broken", web], ["broken", web]], [first, second]);
  assert.deepEqual(["broken", "The engine broke down in this browser; reload the page to try again."], third);
  assert.match(fourth[1], /^The engine did not start within two minutes;/);
  assert.ok(silent.worker.ended);
});

test("no program on the CPU is called a GPU", () => {
  const named = (info, fallback) => {
    const { name, software } = adapterFacts(info, fallback);
    return [name, software];
  };
  const google = { vendor: "google", architecture: "swiftshader" };

  assert.deepEqual(["GPU nvidia ampere (WebGPU)", false], named({ vendor: "nvidia", architecture: "ampere", device: "" }));
  assert.deepEqual(["GPU Radeon 780M (WebGPU)", false], named({ vendor: "", description: "Radeon 780M" }));
  assert.deepEqual(["GPU (WebGPU, unnamed)", false], named({ isFallbackAdapter: false }));
  assert.deepEqual(["software WebGPU adapter (unnamed), not a GPU", true], named({ isFallbackAdapter: true }));
  assert.deepEqual(["software WebGPU adapter (unnamed), not a GPU", true], named({}, true));
  assert.deepEqual(["software WebGPU adapter (google swiftshader), not a GPU", true], named(google));
  for (const description of ["llvmpipe (LLVM 19, 256 bits)", "Microsoft Basic Render Driver", "lavapipe", "WARP"]) {
    assert.deepEqual([`software WebGPU adapter (${description}), not a GPU`, true], named({ description }));
  }
  assert.deepEqual([null, "nvidia"], [adapterFacts({}).adapter, adapterFacts({ vendor: "nvidia" }).adapter]);
});

test("whatever is thrown becomes one sentence", () => {
  const own = new EngineError({ kind: "download", sentence: "It did not come." });

  assert.deepEqual({ kind: "download", sentence: "It did not come." }, problemOf(own));
  assert.equal("memory", problemOf(new RangeError("Array buffer allocation failed")).kind);
  assert.equal("memory", problemOf(new Error("std::bad_alloc")).kind);
  assert.deepEqual(
    { kind: "broken", sentence: "The engine broke down in this browser (no kernel); reload the page to try again." },
    problemOf(new Error("no kernel\nat run")),
  );
});

test("a task names its graph", () => {
  assert.deepEqual("adam-2048-1024", graphOf({ kind: "step", width: 2048, batch: 16 }));
  assert.deepEqual("sgd-256-128", graphOf({ kind: "step", width: 256, batch: 16, optimizer: "sgd" }));
  assert.deepEqual("product", graphOf({ kind: "product", n: 512 }));
});

test("a product has a power of two of rows", () => {
  assert.throws(() => matrices(100), /take a power of two/);
});
