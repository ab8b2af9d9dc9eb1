// The worker in which Python lives: loads Pyodide from this site, and runs one section at a time.
// runner.js says which messages go both ways.
//
// What it runs may be anybody's: a reader imports a record with somebody else's changes. What such code
// may reach is decided by the policy that runner.js gives this worker, which forbids other hosts and
// eval(). Python is handed nothing of JavaScript besides, and no way to start a worker, since one from a
// file of this site would be free of the policy.

/** @typedef {import("./runner.js").Job} Job */

// What each file of Pyodide must be, and its bytes; the fetches fill the cache from which Pyodide then loads.
/** @type {{[name: string]: [integrity: string, bytes: number]}} */
const PYODIDE = {
  "pyodide.mjs": ["sha256-bx1g979Sm+swDw9HmDySHTmCNjZAuiCvDjjv3dvGYQk=", 17_931],
  "pyodide.asm.mjs": ["sha256-983I7OgGeM63EvjmXr5tOoMgOhgMOZhl9JYSoFFpNjU=", 1_250_344],
  "pyodide.asm.wasm": ["sha256-zDbjyrBP38mmP/E+tS6uK5Eb9GwCXMeygfOUvT3h1eY=", 9_598_218],
  "pyodide-lock.json": ["sha256-XcL8EZEIvBSMdFfchudnW1yH4cr9QgucNMHq73s2wBA=", 119_077],
  "python_stdlib.zip": ["sha256-+hlX5XdwaPxPdDf5bYYK4vvpwZcyugbITgBOwW3X3Xo=", 2_545_637],
};
const ALL_BYTES = Object.values(PYODIDE).reduce((sum, [, bytes]) => sum + bytes, 0);
const VENDOR = new URL("../../vendor/pyodide/", import.meta.url);
const CODE = new URL("../../../code/", import.meta.url);
const HARNESS = new URL("./section.py", import.meta.url);
const ROOT = "/lesson";

/** A file that did not come, or is not the one that was expected. */
class FileError extends Error {}

/**
 * A file of this site, if it is the right one. With an integrity the browser hands a file out once all
 * of it came; who wants to hear of its bytes on the way has the checksum computed here, where that is
 * possible.
 * @param {string | URL} name @param {URL} base @param {string} [integrity]
 * @param {{cache?: RequestCache, onBytes?: (count: number) => void}} [how]
 */
async function bytesOf(name, base, integrity = "", { cache = "default", onBytes } = {}) {
  try {
    const checksHere = onBytes && globalThis.crypto?.subtle;
    const answer = await fetch(new URL(name, base), { integrity: checksHere ? "" : integrity, cache });
    if (!answer.ok) throw new Error(answer.statusText);
    const body = onBytes ? answer.body?.pipeThrough(counting(onBytes)) : answer.body;
    const bytes = new Uint8Array(await new Response(body).arrayBuffer());
    if (checksHere && integrity !== (await integrityOf(bytes))) throw new Error("another file");
    return bytes;
  } catch {
    throw new FileError(`${name} did not come, or is not the file that this page was built with; reload the page.`);
  }
}

/** Hand bytes on, and say how many there were. @param {(count: number) => void} onBytes */
const counting = (onBytes) =>
  new TransformStream({
    transform(/** @type {Uint8Array} */ chunk, controller) {
      onBytes(chunk.length);
      controller.enqueue(chunk);
    },
  });

/** The checksum as `fetch` takes it. @param {BufferSource} bytes */
async function integrityOf(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256-${btoa(String.fromCharCode(...digest))}`;
}

/**
 * @typedef {object} Pyodide
 * @property {{mkdirTree(path: string): void, writeFile(path: string, data: Uint8Array): void}} FS
 * @property {(code: string) => void} runPython
 * @property {(name: string) => any} pyimport
 */

async function load() {
  let [loaded, told] = [0, 0];
  const onBytes = (/** @type {number} */ count) => {
    loaded += count;
    const share = Math.min(1, loaded / ALL_BYTES);
    if (share < told + 0.01 && share < 1) return;
    told = share;
    postMessage({ kind: "loading", share });
  };
  await Promise.all(Object.entries(PYODIDE).map(([name, [integrity]]) => bytesOf(name, VENDOR, integrity, { onBytes })));
  const harness = new TextDecoder().decode(await bytesOf(HARNESS, HARNESS));
  const { loadPyodide } = await import(new URL("pyodide.mjs", VENDOR).href);
  /** @type {Pyodide} */
  const pyodide = await loadPyodide({ indexURL: VENDOR.href, jsglobals: {} });
  Reflect.deleteProperty(globalThis, "Worker");
  pyodide.FS.mkdirTree(ROOT);
  pyodide.FS.writeFile(`${ROOT}/section.py`, new TextEncoder().encode(harness));
  pyodide.runPython(`import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, "${ROOT}")`);
  return { pyodide, section: pyodide.pyimport("section") };
}

/** Lay the modules that a section needs beside each other, as the repository has them.
 * @param {Pyodide} pyodide @param {{[file: string]: string}} files */
async function layOut(pyodide, files) {
  const all = Object.entries(files);
  const contents = await Promise.all(all.map(([file, sum]) => bytesOf(file, CODE, sum, { cache: "no-cache" })));
  all.forEach(([file], index) => {
    const path = `${ROOT}/lesson_code/${file}`;
    pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    pyodide.FS.writeFile(path, /** @type {Uint8Array} */ (contents[index]));
  });
}

const loading = load();

/** @param {number} id @param {Job} job */
async function run(id, job) {
  const { pyodide, section } = await loading;
  await layOut(pyodide, job.files);
  const place = section.Place(job.file, job.first, job.last);
  postMessage({ kind: "started", id });
  const emit = (/** @type {string} */ text) => postMessage({ kind: "text", id, text });
  const [end, missing] = section.run(ROOT, place, job.snippet, job.lines, emit).split(" ");
  place.destroy();
  postMessage({ kind: "done", id, end, missing });
}

/** @param {unknown} problem */
function broken(problem) {
  const sentence =
    problem instanceof FileError ? problem.message : `Python broke down in this browser (${problem}); press Run to start it afresh.`;
  postMessage({ kind: "broken", sentence });
}

loading.then(() => postMessage({ kind: "ready" }), broken);
addEventListener("message", ({ data }) => run(data.id, data.job).catch(broken));
