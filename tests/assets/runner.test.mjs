// Running a section: what goes to the worker, what comes back, and every way in which it can end.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Runner } from "../../docs/assets/elements/run/runner.js";
import { EDITS, problemOf } from "../../docs/assets/elements/record.js";

const JOB = { file: "a.py", first: 1, last: 2, snippet: "x = 1", lines: "print(x)", files: {} };

/** A runner with workers that do nothing by themselves. */
function made(limits = { load: 10_000, run: 10_000 }) {
  const workers = [];
  const spawn = () => {
    const worker = { sent: [], ended: false, onmessage: null, onerror: null };
    worker.postMessage = (message) => worker.sent.push(message);
    worker.terminate = () => (worker.ended = true);
    worker.say = (data) => worker.onmessage({ data });
    workers.push(worker);
    return worker;
  };
  return { runner: new Runner(spawn, limits), workers };
}

/** What a listener heard. */
function listening() {
  const heard = [];
  const onLoading = (share) => heard.push(share);
  return { heard, onLoading, onStart: () => heard.push("start"), onOutput: (text) => heard.push(text) };
}

test("a run hands on its output piece by piece, and one worker serves all runs", async () => {
  const { runner, workers } = made();
  for (const id of [1, 2]) {
    const listener = listening();
    const outcome = runner.run(JOB, listener);
    const [worker] = workers;
    assert.deepEqual({ id, job: JOB }, worker.sent.at(-1));
    if (id === 1) worker.say({ kind: "ready" });
    worker.say({ kind: "started", id });
    worker.say({ kind: "text", id, text: "1" });
    worker.say({ kind: "text", id, text: "\n" });
    worker.say({ kind: "done", id, end: id === 1 ? "finished" : "failed" });

    assert.equal((await outcome).end, id === 1 ? "finished" : "failed");
    assert.deepEqual([...(id === 1 ? [0] : []), "start", "1", "\n"], listener.heard);
    assert.equal(false, runner.busy);
  }
  assert.equal(1, workers.length);
});

test("Stop ends the worker, readies another one, and late messages are not heard", async () => {
  const { runner, workers } = made();
  const listener = listening();
  const outcome = runner.run(JOB, listener);
  workers[0].say({ kind: "ready" });
  workers[0].say({ kind: "started", id: 1 });

  runner.stop();
  workers[0].say({ kind: "text", id: 1, text: "too late" });

  assert.equal("stopped", (await outcome).end);
  assert.ok(workers[0].ended);
  assert.deepEqual([0, "start"], listener.heard);
  assert.equal(2, workers.length);
  const second = runner.run(JOB, listening());
  workers[1].say({ kind: "started", id: 2 });
  workers[1].say({ kind: "done", id: 2, end: "finished" });
  assert.equal("finished", (await second).end);
});

test("anyone who waits for Python hears how much of it has come, from where the one before left off", async () => {
  const { runner, workers } = made();
  const [first, second] = [listening(), listening()];
  const outcome = runner.run(JOB, first);
  workers[0].say({ kind: "loading", share: 0.25 });
  workers[0].say({ kind: "ready" });
  runner.stop(); // readies another worker, which loads while nobody waits
  await outcome;
  workers[1].say({ kind: "loading", share: 0.5 });

  runner.run(JOB, second);

  assert.deepEqual([0, 0.25], first.heard);
  assert.deepEqual([0.5], second.heard);
  runner.stop();
});

test("of a package that Python lacks the name is told", async () => {
  const { runner, workers } = made();
  const outcome = runner.run(JOB, listening());
  workers[0].say({ kind: "started", id: 1 });

  workers[0].say({ kind: "done", id: 1, end: "missing", missing: "torch" });

  assert.deepEqual({ end: "missing", sentence: "torch" }, await outcome);
});

test("a run that takes too long is ended", async () => {
  const { runner, workers } = made({ load: 10_000, run: 5 });
  const outcome = runner.run(JOB, listening());
  workers[0].say({ kind: "started", id: 1 });

  const { end, sentence } = await outcome;

  assert.equal("late", end);
  assert.match(sentence, /^Stopped after 30 seconds/);
  assert.ok(workers[0].ended);
});

test("Python that never comes is given up with a sentence", async () => {
  const { runner, workers } = made({ load: 5, run: 10_000 });

  const { end, sentence } = await runner.run(JOB, listening());

  assert.equal("broken", end);
  assert.match(sentence, /did not start within two minutes/);
  assert.ok(workers[0].ended);
  runner.run(JOB, listening());
  assert.equal(2, workers.length);
  runner.stop();
});

test("a worker that breaks says why, and the next run has a new one", async () => {
  const { runner, workers } = made();
  const outcome = runner.run(JOB, listening());

  workers[0].say({ kind: "broken", sentence: "x.py did not come." });

  assert.deepEqual({ end: "broken", sentence: "x.py did not come." }, await outcome);
  assert.ok(workers[0].ended);
  const next = runner.run(JOB, listening());
  workers[1].onerror(new Event("error"));
  assert.match((await next).sentence, /^This browser starts no Python here/);
});

test("a browser that refuses workers is told in a sentence", async () => {
  const refuse = () => {
    throw new Error("SecurityError");
  };

  const { end, sentence } = await new Runner(refuse).run(JOB, listening());

  assert.equal("broken", end);
  assert.match(sentence, /`make serve`/);
});

test("two runs at once are an error", () => {
  const { runner } = made();
  runner.run(JOB, listening());

  assert.throws(() => runner.run(JOB, listening()), /is running/);
  runner.stop();
});

test("a changed snippet in the record has two texts of at most 5,000 characters", () => {
  const at = "2026-11-22T10:00:00.000Z";
  const edit = { at, text: "", lines: "print(1)" };

  assert.equal("", problemOf(EDITS, "a.py:s", edit));
  assert.equal("has no valid text", problemOf(EDITS, "a.py:s", { ...edit, text: "x".repeat(5001) }));
  assert.equal("has no valid text", problemOf(EDITS, "a.py:s", { at, text: "x" }));
});
