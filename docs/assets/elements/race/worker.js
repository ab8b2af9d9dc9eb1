// The worker in which one racer lives: does what engine.js asks, one thing after the other.
//
// A worker has the policy that is sent with its own file, and not that of the page's meta element. It
// runs nothing of the reader's, so that no server has to send one; one that does has to allow
// 'wasm-unsafe-eval' for this file.

import { EngineError } from "./engine.js";
import { load, problemOf } from "./ort-session.js";

/** @typedef {import("./engine.js").Task} Task */
/** @typedef {import("./ort-session.js").OrtSession} OrtSession */

const LOST = {
  kind: "lost",
  sentence: "The GPU was taken away while it ran, by its driver or by the system; reload the page to try again.",
};

const LOST_MS = 100;

/** @type {OrtSession | undefined} */
let session;

function loaded() {
  if (!session) throw new EngineError({ kind: "broken", sentence: "The engine is not loaded; load it first." });
  return session;
}

/** @type {{[call: string]: (data: any) => Promise<unknown>}} */
const CALLS = {
  async load({ id, racer, build, verbose }) {
    const onProgress = (/** @type {number} */ loaded, /** @type {number} */ total) =>
      postMessage({ id, kind: "progress", loaded, total });
    const made = await load({ racer, build, verbose }, onProgress);
    session = made.session;
    session.device?.lost.then(() => postMessage({ kind: "ended", error: LOST }));
    return made.facts;
  },
  prepare: async ({ task }) => loaded().prepare(task),
  block: async ({ steps, read }) => loaded().block(steps, read),
  state: async () => loaded().state(),
};

/** Whether the device is gone; a call may fail of that a moment before the device says so. */
const isLost = () =>
  Promise.race([
    session?.device?.lost.then(() => true),
    new Promise((resolve) => setTimeout(resolve, LOST_MS, false)),
  ]);

/** @param {{id: number, call: string}} data */
async function answer(data) {
  try {
    postMessage({ id: data.id, kind: "done", value: await CALLS[data.call]?.(data) });
  } catch (thrown) {
    if (session?.device && (await isLost())) return; // it has been told
    postMessage({ id: data.id, kind: "failed", error: problemOf(thrown) });
  }
}

addEventListener("message", ({ data }) => answer(data));
