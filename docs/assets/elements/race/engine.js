// The page's side of one racer: a worker of its own, asked for one thing at a time.
//
// To the worker goes {id, call, ...}. From it come, for each call, any number of
// {id, kind: "progress", loaded, total}, and then {id, kind: "done", value} or
// {id, kind: "failed", error: {kind, sentence}}; or at any time {kind: "ended", error}, after which
// it is of no use.

/** @typedef {"browser_cpu" | "browser_gpu"} RacerName */
/** @typedef {"jspi" | "asyncify"} Build */
/**
 * @typedef {object} Facts
 * @property {RacerName} racer
 * @property {string} name for people: "CPU in the browser (WebAssembly, 2 threads)"
 * @property {string | null} adapter what WebGPU calls the device: "nvidia ampere"; null if it has no name
 * @property {boolean} software whether a program on the CPU plays the GPU
 * @property {number} threads
 * @property {Build} build
 * @property {string} engine "onnxruntime-web 1.30.0"
 */
/**
 * What one point of the race runs; `optimizer` is "adam" where it is left out.
 * @typedef {{kind: "step", width: number, batch: number, optimizer?: "adam" | "sgd"} | {kind: "product", n: number}} Task
 */
/** @typedef {{check: number[], warmupMs: number}} Prepared */
/** @typedef {{ms: number, value: number}} Block `value`: the last loss, or the root mean square of the last product */
/**
 * "no-webgpu", "no-adapter": this browser, or this machine, has none. "download": a file did not
 * come, or is not the right one. "lost": the device went away. "memory": too little of it for this
 * task. "stopped": `close` was called. "broken": anything else.
 * @typedef {"no-webgpu" | "no-adapter" | "download" | "lost" | "memory" | "stopped" | "broken"} Failure
 */
/** @typedef {{kind: Failure, sentence: string}} Problem */
/** @typedef {{build?: Build, verbose?: boolean}} Choice what tests decide otherwise than the browser would */
/** @typedef {(loaded: number, total: number) => void} Hear */
/** @typedef {{resolve: (value: any) => void, reject: (problem: EngineError) => void, hear: Hear}} Pending */
/** @typedef {Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror">} Helper */

export const SILENCE_MS = 120_000;

/** @type {{[name in "stopped" | "forbidden" | "silent" | "broken"]: Problem}} */
const PROBLEMS = {
  stopped: { kind: "stopped", sentence: "The race was stopped." },
  forbidden: {
    kind: "broken",
    sentence: "This browser starts no engine here; open the page from a web server, as `make serve` starts one.",
  },
  silent: {
    kind: "broken",
    sentence: "The engine did not start within two minutes; a slow network or this browser’s settings keep it back. Try again.",
  },
  broken: { kind: "broken", sentence: "The engine broke down in this browser; reload the page to try again." },
};

/** Why an engine did not do what it was asked; its message is a sentence for the reader. */
export class EngineError extends Error {
  /** @param {Problem} problem */
  constructor({ kind, sentence }) {
    super(sentence);
    this.name = "EngineError";
    this.kind = kind;
  }
}

/** Which of the two downloads this browser takes. @returns {Build} */
export const browserBuild = () => ("Suspending" in WebAssembly ? "jspi" : "asyncify");

/** @returns {Helper} */
const browserWorker = () => new Worker(new URL("./worker.js", import.meta.url), { type: "module" });

export class Engine {
  /** @type {Helper | undefined} */
  #worker;
  #id = 0;
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();
  /** The one call that the worker has. @type {Pending | undefined} */
  #now;
  /** Why nothing more can be asked. @type {Problem | undefined} */
  #ended;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #heard = false;

  /**
   * @param {RacerName} racer
   * @param {() => Helper} spawn
   * @param {Choice} choice
   * @param {number} silenceMs how long the worker may say nothing while it loads
   */
  constructor(racer, spawn = browserWorker, choice = {}, silenceMs = SILENCE_MS) {
    this.racer = racer;
    this.spawn = spawn;
    this.choice = choice;
    this.silenceMs = silenceMs;
  }

  /**
   * Fetch, check and start the runtime. Progress counts the bytes as they are unpacked, so show a
   * share of it, and not megabytes.
   * @param {{onProgress?: (loaded: number, total: number) => void}} listener
   * @returns {Promise<Facts>}
   */
  load({ onProgress = () => {} } = {}) {
    const { build = browserBuild(), verbose = false } = this.choice;
    return this.#ask({ call: "load", racer: this.racer, build, verbose }, onProgress);
  }

  /**
   * Make a task ready: draw its weights and data, run three steps on the first batch, and read each
   * loss (of a product: the root mean square of each result); run more until the device is warm;
   * then put the weights back to what was drawn.
   * @param {Task} task
   * @returns {Promise<Prepared>} `warmupMs`: how long all these steps took
   */
  prepare(task) {
    return this.#ask({ call: "prepare", task });
  }

  /**
   * Run so many operations of the prepared task, each on the result of the one before, and wait once
   * at the end; with `read`, wait for the loss after each.
   * @param {number} steps
   * @param {{read?: boolean}} how
   * @returns {Promise<Block>} `ms`: by the worker's clock, with the wait; `value` was read after it stopped
   */
  block(steps, { read = false } = {}) {
    return this.#ask({ call: "block", steps, read });
  }

  /**
   * The state as it stands, for tests.
   * @returns {Promise<{[name: string]: Float32Array}>}
   */
  state() {
    return this.#ask({ call: "state" });
  }

  /** End the worker; anyone who waits for it is told, and so is anyone who asks later. */
  close() {
    this.#end(PROBLEMS.stopped);
  }

  /**
   * Give the worker one thing to do, once it has done all before.
   * @param {object} message
   * @param {Hear} hear
   * @returns {Promise<any>}
   */
  #ask(message, hear = () => {}) {
    const answer = this.#last.then(() => this.#send(message, hear));
    this.#last = answer.catch(() => {}); // the next call is not this one's failure
    return answer;
  }

  /** @param {object} message @param {Hear} hear */
  #send(message, hear) {
    return new Promise((resolve, reject) => {
      this.#now = { resolve, reject, hear };
      this.#id += 1;
      this.#start();
      this.#worker?.postMessage({ ...message, id: this.#id });
      if (this.#ended) this.#settle()?.reject(new EngineError(this.#ended));
      else if ("call" in message && message.call === "load") this.#listen();
    });
  }

  #start() {
    if (this.#worker || this.#ended) return;
    try {
      const worker = this.spawn();
      worker.onmessage = ({ data }) => this.#hear(data);
      worker.onerror = () => this.#end(this.#heard ? PROBLEMS.broken : PROBLEMS.forbidden);
      this.#worker = worker;
    } catch {
      this.#end(PROBLEMS.forbidden);
    }
  }

  /** End the engine if it stays silent. */
  #listen() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(PROBLEMS.silent), this.silenceMs);
  }

  /** The call that is over now. */
  #settle() {
    clearTimeout(this.#timer);
    const now = this.#now;
    this.#now = undefined;
    return now;
  }

  /** @param {Problem} problem */
  #end(problem) {
    this.#ended ??= problem;
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#settle()?.reject(new EngineError(this.#ended));
  }

  /** @param {{id?: number, kind: string, value?: any, loaded?: number, total?: number, error?: Problem}} message */
  #hear({ id, kind, value, loaded = 0, total = 0, error = PROBLEMS.broken }) {
    if (this.#ended) return; // a worker that was given up may still have messages under way
    this.#heard = true;
    if (kind === "ended") return this.#end(error);
    if (id !== this.#id) return;
    if (kind === "done") this.#settle()?.resolve(value);
    if (kind === "failed") this.#settle()?.reject(new EngineError(error));
    if (kind !== "progress") return;
    this.#listen();
    this.#now?.hear(loaded, total);
  }
}
