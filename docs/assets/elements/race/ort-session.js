// The worker's side of the race: ONNX Runtime Web on one device, and the state of one task on it.
//
// Three things make the times honest. GPU outputs stay on the GPU and are the next inputs, so every
// operation needs the one before it. The clock stops when the device has finished, and not when it
// was asked. And the batch is handed over anew in each step, as in the lesson. On the CPU the runtime
// copies the whole state into its memory and out again in each step, which no option of it prevents.

import { IMAGES, PIXELS, digits, firstState, matrices, rootMeanSquare } from "./data.js";
import { EngineError } from "./engine.js";

/** @typedef {import("./data.js").Value} Value */
/** @typedef {import("./engine.js").Build} Build */
/** @typedef {import("./engine.js").Facts} Facts */
/** @typedef {import("./engine.js").Task} Task */
/** @typedef {import("./engine.js").Failure} Failure */
/** @typedef {import("./engine.js").RacerName} RacerName */
/** @typedef {{name: string, file: string, sha256: string, kind: string, inputs: Value[], outputs: Value[]}} Graph */

// What we use of the runtime.
/**
 * @typedef {object} Tensor
 * @property {string} location
 * @property {Float32Array} data only where `location` is "cpu"
 * @property {GPUBuffer} gpuBuffer only where it is "gpu-buffer"
 * @property {readonly number[]} dims
 * @property {() => void} dispose
 */
/** @typedef {{[name: string]: Tensor}} Tensors */
/** @typedef {{run(feeds: Tensors): Promise<Tensors>, release(): Promise<void>}} Session */
/** @typedef {{dataType: string, dims: readonly number[], dispose: () => void}} BufferOptions */
/**
 * @typedef {object} Runtime
 * @property {{logLevel: string, wasm: {[option: string]: unknown}, webgpu: {device: Promise<GPUDevice>}}} env
 * @property {{create(graph: Uint8Array, options: object): Promise<Session>}} InferenceSession
 * @property {{new (type: string, data: Float32Array | Int32Array, dims: readonly number[]): Tensor, fromGpuBuffer(buffer: GPUBuffer, options: BufferOptions): Tensor}} Tensor
 */

export const ENGINE = "onnxruntime-web 1.30.0";
const VENDOR = new URL("../../vendor/onnxruntime/", import.meta.url);
const GRAPHS = new URL("../../race/", import.meta.url);
const LIST = "graphs.json";
// What each file must be; of the program itself, what is unpacked.
/** @type {{[build in Build]: {api: [string, string], loader: [string, string], program: [string, string, number]}}} */
const FILES = {
  jspi: {
    api: ["ort.jspi.min.mjs", "bc57179d923fda2d88d4a395359c8df44399dde087bf9ff44fc0e40ab398e4d9"],
    loader: ["ort-wasm-simd-threaded.jspi.mjs", "270e2c6da9f297239d301d329782b6446641cb1e16a77967690adcfca35f3268"],
    program: [
      "ort-wasm-simd-threaded.jspi.wasm.gz",
      "a54c76f86b0f0d9572380cf1c6292a7b3903716ffcbcd6b0e5c7050bf430eb93",
      16_758_545,
    ],
  },
  asyncify: {
    api: ["ort.webgpu.min.mjs", "3dffff71811bc13a3a3d9591c57ca5ee5735b8f5f3eaf789510b02bb040ae3a0"],
    loader: ["ort-wasm-simd-threaded.asyncify.mjs", "3d1c85995364bb643302fc6fd877a0c3ba5ae72401815e0f24828a53d9191e28"],
    program: [
      "ort-wasm-simd-threaded.asyncify.wasm.gz",
      "39f9f0894d478800487ed9f7dbe92618498db320cf55c8e3d89adff8dce658da",
      26_781_914,
    ],
  },
};
const GZIP = 0x1f; // the first byte of what gzip packed
// GPUBufferUsage and GPUMapMode, as WebGPU fixes them.
const MAP_READ = 1;
const COPY_SRC = 4;
const COPY_DST = 8;
const STORAGE = 128;
// How much the runtime says on the console; its warnings are about what we test.
const VERBOSE = 0;
const ERRORS = 3;
const MOST_THREADS = 8;
const CHECKED = 3; // steps whose losses are compared between the racers
const MOST_UNDER_WAY = 2 ** 26; // bytes of batches, twice as many at most, that wait for the GPU
const WARM_STEPS = 20; // at most, unless WARM_MS are over
const WARM_MS = 200;
// Adapters that are programs on the CPU, should one not say so itself.
const PROGRAMS = /swiftshader|llvmpipe|lavapipe|softpipe|basic render|\bwarp\b/i;
const OUT_OF_MEMORY = /out of memory|bad_alloc|\bOOM\b|failed to allocate|allocation failed|could not allocate/i;

/** @param {Failure} kind @param {string} sentence */
const problem = (kind, sentence) => new EngineError({ kind, sentence });

/** Anything that was thrown, as a sentence. @param {unknown} thrown */
export function problemOf(thrown) {
  if (thrown instanceof EngineError) return { kind: thrown.kind, sentence: thrown.message };
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  if (OUT_OF_MEMORY.test(said)) {
    return { kind: "memory", sentence: "This size needs more memory than the browser gives; smaller ones may still run." };
  }
  return { kind: "broken", sentence: `The engine broke down in this browser (${said.split("\n")[0]}); reload the page to try again.` };
}

// ---- Files

/** @param {URL} url */
const nameOf = (url) => url.pathname.slice(url.pathname.lastIndexOf("/") + 1);

/** @param {URL} url @param {RequestInit} [how] */
async function answerOf(url, how) {
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(url, how);
  } catch {
    throw problem("download", `${nameOf(url)} did not come; look at the network and try again.`);
  }
  if (answer.ok) return answer;
  const missing = `${nameOf(url)} is not on this site; its build may have had no network to fetch it, so build it again.`;
  const refused = `The server answered with ${answer.status} when asked for ${nameOf(url)}; try again later.`;
  throw problem("download", answer.status === 404 ? missing : refused);
}

/** @param {URL} url */
const halved = (url) => problem("download", `${nameOf(url)} did not come whole; look at the network and try again.`);

/** @param {URL} url */
const wrong = (url) => problem("download", `${nameOf(url)} is not the file that this page was built with; reload the page.`);

/**
 * Hand bytes on if they are the right ones.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {string} sum their SHA-256 in hexadecimal digits
 * @param {URL} url where they came from
 */
async function checked(bytes, sum, url) {
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const text = Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (text !== sum) throw wrong(url);
  return bytes;
}

/** @param {URL} url @param {string} sum @param {RequestInit} [how] */
async function fileAt(url, sum, how) {
  const answer = await answerOf(url, how);
  const bytes = await answer.arrayBuffer().catch(() => {
    throw halved(url);
  });
  return checked(new Uint8Array(bytes), sum, url);
}

/**
 * A file's bytes, unpacked while they come. Some servers send such a file in a way that makes the
 * browser unpack it, so the first byte decides.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 */
async function unpacked(body) {
  const [first, all] = body.tee();
  const reader = first.getReader();
  const { value } = await reader.read();
  reader.cancel(); // kept only once `all` is at its end
  return value?.[0] === GZIP ? all.pipeThrough(new DecompressionStream("gzip")) : all;
}

/**
 * The program, in memory.
 * @param {Build} build
 * @param {(loaded: number, total: number) => void} onProgress
 */
async function programOf(build, onProgress) {
  const [name, sum, total] = FILES[build].program;
  const url = new URL(name, VENDOR);
  const { body } = await answerOf(url);
  if (!body) throw wrong(url);
  const fail = () => {
    throw halved(url);
  };
  const bytes = new Uint8Array(total);
  let loaded = 0;
  const reader = (await unpacked(body).catch(fail)).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(fail);
    if (done) break;
    if (loaded + value.length > total) throw wrong(url);
    bytes.set(value, loaded);
    loaded += value.length;
    onProgress(loaded, total);
  }
  return checked(bytes, sum, url);
}

// ---- The device

/**
 * What WebGPU says of a device, for people.
 * @param {Partial<GPUAdapterInfo>} info
 * @param {boolean} fallback whether it is a program, where `info` does not say
 * @returns {{adapter: string | null, software: boolean, name: string}}
 */
export function adapterFacts({ vendor, architecture, device, description, isFallbackAdapter }, fallback = false) {
  const all = [vendor, architecture, device, description].map((part) => part?.trim() ?? "");
  const adapter = all.slice(0, 2).filter(Boolean).join(" ") || all.slice(2).filter(Boolean).pop() || null;
  const software = (isFallbackAdapter ?? fallback) || PROGRAMS.test(all.join(" "));
  const gpu = adapter ? `GPU ${adapter} (WebGPU)` : "GPU (WebGPU, unnamed)";
  const program = `software WebGPU adapter (${adapter ?? "unnamed"}), not a GPU`;
  return { adapter, software, name: software ? program : gpu };
}

/** @param {number} threads */
const cpuName = (threads) => `CPU in the browser (WebAssembly, ${threads} thread${threads === 1 ? "" : "s"})`;

/** Refuse before anything is loaded if there is no WebGPU here; else whether it is a program. */
async function requireAdapter() {
  if (!navigator.gpu) throw problem("no-webgpu", "This browser has no WebGPU, or keeps it switched off, so no page can use the GPU.");
  const adapter = await navigator.gpu.requestAdapter().catch(() => null);
  if (!adapter) throw problem("no-adapter", "This browser has WebGPU, but found no GPU on this machine that it lets pages use.");
  return "isFallbackAdapter" in adapter && adapter.isFallbackAdapter === true; // where older browsers say it
}

function requireBrowser() {
  if (!globalThis.isSecureContext || !crypto.subtle) {
    throw problem("broken", "Browsers check files on secure addresses only; open this page over https, or on localhost.");
  }
  if (!("DecompressionStream" in globalThis)) {
    throw problem("broken", "This browser can’t unpack the engine; a newer version of it can.");
  }
}

/**
 * The runtime with its program, not started yet.
 * @param {Build} build
 * @param {number} threads
 * @param {(loaded: number, total: number) => void} onProgress
 * @returns {Promise<Runtime>}
 */
async function runtimeOf(build, threads, onProgress) {
  const { api, loader } = FILES[build];
  const [program] = await Promise.all([
    programOf(build, onProgress),
    // These fill the cache from which the modules are then loaded.
    ...[api, loader].map(([name, sum]) => fileAt(new URL(name, VENDOR), sum)),
  ]);
  /** @type {Runtime} */
  const runtime = await import(new URL(api[0], VENDOR).href);
  const paths = { mjs: new URL(loader[0], VENDOR).href };
  Object.assign(runtime.env.wasm, { wasmBinary: program, wasmPaths: paths, numThreads: threads });
  return runtime;
}

/** The list of graphs. @returns {Promise<Graph[]>} */
async function listOfGraphs() {
  const answer = await answerOf(new URL(LIST, GRAPHS), { cache: "no-cache" });
  return (await answer.json()).graphs;
}

// ---- Tasks

/** The name of the graph that a task runs. @param {Task} task */
export const graphOf = (task) =>
  task.kind === "product" ? "product" : `${task.optimizer ?? "adam"}-${task.width}-${task.width / 2}`;

export class OrtSession {
  /** Sessions by the names of their graphs. @type {Map<string, Session>} */
  #sessions = new Map();
  /** @type {Session | undefined} */
  #session;
  /** @type {Task} */
  #task = { kind: "product", n: 1 };
  /** What a task begins with, as it was drawn. @type {[string, Float32Array, readonly number[]][]} */
  #first = [];
  /** What each operation takes from the one before. @type {Tensors} */
  #state = {};
  /** The second matrix of a product. @type {Tensors} */
  #fixed = {};
  /** @type {Tensor | undefined} */
  #loss;
  #steps = 0;
  /** @type {import("./data.js").Digits | undefined} */
  #digits;
  /** An error that the device told nobody else. @type {GPUError | undefined} */
  #complaint;

  /**
   * @param {Runtime} runtime
   * @param {Graph[]} graphs
   * @param {boolean} onGpu
   * @param {boolean} verbose whether the runtime says what it does
   */
  constructor(runtime, graphs, onGpu, verbose) {
    this.runtime = runtime;
    this.graphs = graphs;
    this.onGpu = onGpu;
    this.options = {
      executionProviders: [onGpu ? "webgpu" : "wasm"],
      ...(onGpu && { preferredOutputLocation: "gpu-buffer" }),
      logSeverityLevel: verbose ? VERBOSE : ERRORS,
    };
    /** @type {GPUDevice | undefined} */
    this.device = undefined;
  }

  /** Start the program, and with it the device, which lives as long as this graph's session. */
  async start() {
    await this.#sessionOf("product");
    if (!this.onGpu) return;
    this.device = await this.runtime.env.webgpu.device;
    this.device.addEventListener("uncapturederror", ({ error }) => (this.#complaint ??= error));
  }

  /**
   * Draw the task's data, and run it until the device is warm.
   * @param {Task} task
   * @returns {Promise<import("./engine.js").Prepared>}
   */
  async prepare(task) {
    this.#dispose();
    this.#task = task;
    this.#session = await this.#sessionOf(graphOf(task));
    this.#draw();
    await this.#reset();
    const start = performance.now();
    const check = [];
    while (check.length < CHECKED) {
      await this.#operate(0);
      check.push(await this.#value());
    }
    for (let step = 0; step < WARM_STEPS && performance.now() - start < WARM_MS; step += 1) {
      await this.#operate(0);
      await this.#wait();
    }
    const warmupMs = performance.now() - start;
    await this.#reset();
    return { check, warmupMs };
  }

  /** @param {number} steps @param {boolean} read @returns {Promise<import("./engine.js").Block>} */
  async block(steps, read) {
    const often = Math.ceil(MOST_UNDER_WAY / this.#batchBytes);
    const start = performance.now();
    let asked = this.device?.queue.onSubmittedWorkDone();
    for (let step = 1; step <= steps; step += 1) {
      await this.#operate(this.#steps);
      this.#steps += 1;
      if (read) await this.#value();
      if (step % often) continue;
      await asked; // of the steps before the last few, which go on meanwhile, so the GPU never stands still
      asked = this.device?.queue.onSubmittedWorkDone();
    }
    await this.#wait();
    const ms = performance.now() - start;
    return { ms, value: await this.#value() };
  }

  /** @returns {Promise<{[name: string]: Float32Array}>} */
  async state() {
    /** @type {{[name: string]: Float32Array}} */
    const state = {};
    for (const [name, tensor] of Object.entries(this.#state)) state[name] = await this.#read(tensor);
    return state;
  }

  /** The session of a graph; besides that of the product, only the last one stays. @param {string} name */
  async #sessionOf(name) {
    const known = this.#sessions.get(name);
    if (known) return known;
    for (const [other, session] of this.#sessions) {
      if (other === "product") continue;
      this.#sessions.delete(other);
      await session.release();
    }
    const graph = this.graphs.find((each) => each.name === name);
    if (!graph) throw problem("broken", `There is no ${name} among the graphs; choose a width that the race has.`);
    const bytes = await fileAt(new URL(graph.file, GRAPHS), graph.sha256, { cache: "no-cache" });
    const session = await this.runtime.InferenceSession.create(bytes, this.options);
    this.#sessions.set(name, session);
    return session;
  }

  /** Make the numbers of the task. */
  #draw() {
    const task = this.#task;
    if (task.kind === "product") {
      const [left, right] = matrices(task.n);
      this.#first = [["a", left, [task.n, task.n]]];
      this.#fixed = { b: this.#placed(right, [task.n, task.n]) };
      return;
    }
    if (task.batch > IMAGES) throw problem("broken", `There are ${IMAGES} images; choose a batch of at most as many.`);
    this.#digits ??= digits();
    const inputs = this.graphs.find(({ name }) => name === graphOf(task))?.inputs.slice(0, -2) ?? [];
    const numbers = firstState(inputs);
    this.#first = inputs.map(({ name, shape }, at) => [name, numbers[at] ?? new Float32Array(), shape.map(Number)]);
  }

  /** Go back to what was drawn; nothing of that is left for the first operation to do. */
  async #reset() {
    this.#replace({});
    this.#state = Object.fromEntries(this.#first.map(([name, numbers, dims]) => [name, this.#placed(numbers, dims)]));
    this.#steps = 0;
    await this.#wait();
  }

  /** Give up a state for another one. @param {Tensors} state @param {Tensor} [loss] what the operation in between gave */
  #replace(state, loss) {
    const old = [...Object.values(this.#state), ...(this.#loss ? [this.#loss] : [])];
    this.#state = state;
    this.#loss = loss;
    for (const tensor of old) tensor.dispose();
  }

  #dispose() {
    const fixed = Object.values(this.#fixed);
    [this.#fixed, this.#session, this.#complaint] = [{}, undefined, undefined];
    this.#replace({});
    for (const tensor of fixed) tensor.dispose();
  }

  /** Numbers where the device has its own. @param {Float32Array} numbers @param {readonly number[]} dims @returns {Tensor} */
  #placed(numbers, dims) {
    const { Tensor } = this.runtime;
    if (!this.device) return new Tensor("float32", numbers, dims);
    const size = 16 * Math.ceil(numbers.byteLength / 16); // as the runtime sizes its own
    const buffer = this.device.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST });
    this.device.queue.writeBuffer(buffer, 0, /** @type {Float32Array<ArrayBuffer>} */ (numbers));
    return Tensor.fromGpuBuffer(buffer, { dataType: "float32", dims, dispose: () => buffer.destroy() });
  }

  /** One of the batches, which the runtime hands to the device. @param {number} step @returns {Tensors} */
  #batch(step) {
    if (this.#task.kind === "product" || !this.#digits) return {};
    const { batch } = this.#task;
    const first = (step % Math.floor(IMAGES / batch)) * batch;
    const { Tensor } = this.runtime;
    const { images, labels } = this.#digits;
    return {
      images: new Tensor("float32", images.subarray(first * PIXELS, (first + batch) * PIXELS), [batch, 1, 28, 28]),
      labels: new Tensor("int32", labels.subarray(first, first + batch), [batch]),
    };
  }

  /** What a step hands to the device. */
  get #batchBytes() {
    return this.#task.kind === "step" ? 4 * PIXELS * this.#task.batch : 1;
  }

  /** Ask for one operation on the state, which its results replace. @param {number} step whose batch it is */
  async #operate(step) {
    if (!this.#session) throw problem("broken", "No task is prepared; prepare one first.");
    const { loss, product, ...next } = await this.#session.run({ ...this.#state, ...this.#fixed, ...this.#batch(step) });
    if (product) return this.#replace({ a: product });
    const state = Object.entries(next).map(([name, tensor]) => [name.replace("new.", ""), tensor]);
    this.#replace(Object.fromEntries(state), loss);
  }

  /** Until the device has done all that it was asked. */
  async #wait() {
    await this.device?.queue.onSubmittedWorkDone();
    const complaint = this.#complaint;
    this.#complaint = undefined;
    if (complaint?.constructor.name === "GPUOutOfMemoryError") throw new RangeError("out of memory");
    if (complaint) throw new Error(complaint.message);
  }

  /** The loss, or how large the product's entries are. */
  async #value() {
    if (this.#loss) return (await this.#read(this.#loss))[0] ?? NaN;
    return this.#state.a ? rootMeanSquare(await this.#read(this.#state.a)) : NaN;
  }

  /** The numbers of a tensor, which stays where it is. @param {Tensor} tensor */
  async #read(tensor) {
    if (!this.device || tensor.location === "cpu") return tensor.data;
    const size = 4 * tensor.dims.reduce((product, length) => product * length, 1);
    const copy = this.device.createBuffer({ size, usage: MAP_READ | COPY_DST });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(tensor.gpuBuffer, 0, copy, 0, size);
    this.device.queue.submit([encoder.finish()]);
    await copy.mapAsync(MAP_READ);
    const numbers = new Float32Array(copy.getMappedRange().slice(0));
    copy.destroy();
    return numbers;
  }
}

/**
 * Load the runtime, start it on a racer's device, and say what that is.
 * @param {{racer: RacerName, build: Build, verbose: boolean}} what
 * @param {(loaded: number, total: number) => void} onProgress
 * @returns {Promise<{session: OrtSession, facts: Facts}>}
 */
export async function load({ racer, build, verbose }, onProgress) {
  requireBrowser();
  const onGpu = racer === "browser_gpu";
  const fallback = onGpu && (await requireAdapter());
  const threads = !onGpu && globalThis.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, MOST_THREADS) : 1;
  const [runtime, graphs] = await Promise.all([runtimeOf(build, threads, onProgress), listOfGraphs()]);
  runtime.env.logLevel = verbose ? "verbose" : "error";
  const session = new OrtSession(runtime, graphs, onGpu, verbose);
  await session.start();
  runtime.env.wasm.wasmBinary = undefined; // it has been compiled
  const cpu = { adapter: null, software: false, name: cpuName(threads) };
  const info = session.device?.adapterInfo;
  const device = info ? adapterFacts(info, fallback) : cpu;
  return { session, facts: { racer, ...device, threads, build, engine: ENGINE } };
}
