// Runs sections in a worker, one at a time: loads, streams, stops, and starts afresh. Pure but for
// the worker, which a test replaces.
//
// To the worker goes {id, job}. From it come, in this order, any number of {kind: "loading", share} and
// {kind: "ready"} once, and for each job {kind: "started", id}, any number of {kind: "text", id, text},
// and {kind: "done", id, end, missing}: finished, failed, or missing, with the package that is; or at
// any time {kind: "broken", sentence}, after which it is of no use.

/**
 * @typedef {object} Job
 * @property {string} file the module, relative to lesson_code
 * @property {number} first the section's first line in it, counted from one
 * @property {number} last
 * @property {string} snippet what is there now
 * @property {string} lines what runs afterwards
 * @property {{[file: string]: string}} files every module that is needed, with its checksum
 */
/** @typedef {"finished" | "failed" | "missing" | "stopped" | "late" | "broken"} End */
/** @typedef {{end: End, sentence: string}} Outcome where something is missing, the sentence is its name */
/** @typedef {Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror">} Helper */
/** @typedef {{onLoading(share: number): void, onStart(): void, onOutput(text: string): void}} Listener share: of Python's bytes */

export const LOAD_MS = 120_000;
export const RUN_MS = 30_000;

/** @type {{[end in Exclude<End, "broken" | "missing">]: string}} */
const SENTENCES = {
  finished: "Finished.",
  failed: "An error ended the run; the last line of the output names it.",
  stopped: "Stopped. The next run starts from the beginning.",
  late: `Stopped after ${RUN_MS / 1000} seconds, the most that a run may take here.`,
};
const SILENT =
  "Python did not start within two minutes; a slow network or this browser’s settings keep it back. Press Run to try again.";
const FORBIDDEN = "This browser starts no Python here; open the page from a web server, as `make serve` starts one.";

/**
 * Python's worker, under a policy by which it reaches no other host. A worker has the policy that is
 * sent with its own file, and plain web servers send none; one made of a blob has the page's. The live
 * server does send one, narrower than its page's, which has to reach the kernels.
 * @returns {Helper}
 */
function browserWorker() {
  const address = new URL("./worker.js", import.meta.url).href;
  if (document.querySelector("meta[name=lesson-runs]")) return new Worker(address, { type: "module" });
  const blob = URL.createObjectURL(new Blob([`import ${JSON.stringify(address)};`], { type: "text/javascript" }));
  return new Worker(blob, { type: "module" });
}

export class Runner {
  /** @type {Helper | undefined} */
  #worker;
  #id = 0;
  #loaded = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** How much of Python has come. */
  #share = 0;
  /** @type {(Listener & {end: (end: End, sentence?: string) => void}) | undefined} */
  #now;

  /** @param {() => Helper} spawn @param {{load: number, run: number}} limits in milliseconds */
  constructor(spawn = browserWorker, limits = { load: LOAD_MS, run: RUN_MS }) {
    this.spawn = spawn;
    this.limits = limits;
  }

  get busy() {
    return this.#now !== undefined;
  }

  /** Whether Python is there. */
  get loaded() {
    return this.#loaded;
  }

  /**
   * Run one section; while another one runs, this is an error of the caller.
   * @param {Job} job
   * @param {Listener} listener
   * @returns {Promise<Outcome>}
   */
  run(job, listener) {
    if (this.busy) throw new Error("a section is running");
    return new Promise((resolve) => {
      const end = (/** @type {End} */ end, sentence = end === "broken" || end === "missing" ? "" : SENTENCES[end]) => {
        clearTimeout(this.#timer);
        this.#now = undefined;
        resolve({ end, sentence });
      };
      this.#now = { ...listener, end };
      if (!this.#start()) return;
      if (!this.#loaded) listener.onLoading(this.#share);
      this.#limit(this.limits.load, () => this.#give("broken", SILENT));
      this.#id += 1;
      this.#worker?.postMessage({ id: this.#id, job });
    });
  }

  /** End the run; a fresh worker is made ready for the next one. */
  stop() {
    if (this.#now) this.#give("stopped");
  }

  /** Give up the worker, and say why. @param {End} end @param {string} [sentence] */
  #give(end, sentence) {
    this.#worker?.terminate();
    this.#worker = undefined;
    const wasLoaded = this.#loaded;
    this.#loaded = false;
    this.#share = 0;
    this.#now?.end(end, sentence);
    if (wasLoaded && end !== "broken") this.#start();
  }

  /** @param {number} ms @param {() => void} then */
  #limit(ms, then) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  /** Whether there is a worker now. */
  #start() {
    if (this.#worker) return true;
    try {
      const worker = this.spawn();
      // A worker that was given up may still have messages under way.
      worker.onmessage = ({ data }) => this.#worker === worker && this.#hear(data);
      worker.onerror = () => this.#worker === worker && this.#give("broken", FORBIDDEN);
      this.#worker = worker;
      return true;
    } catch {
      this.#give("broken", FORBIDDEN);
      return false;
    }
  }

  /** @param {{kind: string, share?: number, id?: number, text?: string, end?: End, missing?: string, sentence?: string}} message */
  #hear({ kind, share = 0, id, text = "", end = "failed", missing, sentence }) {
    if (kind === "loading") {
      this.#share = share;
      this.#now?.onLoading(share);
    }
    if (kind === "ready") this.#loaded = true;
    if (kind === "broken") this.#give("broken", sentence);
    if (id !== this.#id || !this.#now) return;
    if (kind === "started") {
      this.#now.onStart();
      this.#limit(this.limits.run, () => this.#give("late"));
    }
    if (kind === "text") this.#now.onOutput(text);
    if (kind === "done") this.#now.end(end, missing);
  }
}
