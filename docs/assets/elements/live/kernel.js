// A Python process behind the page, on the machine that serves it. Only the live server loads this.

import { PROTOCOL, pack, plainText, unpack } from "./wire.js";

const GONE = "The command that serves this page has ended. Start `make live` again, and open the address that it prints.";
const DIED = "Python ended while it ran this, perhaps for want of memory. Run it again to start another.";
const RESTARTED = "Python was restarted; what it had computed is gone.";
const EARLY = "Interrupted before the first line ran.";
const WITHOUT_TORCH = "Python could not load PyTorch. Stop the command that serves this page, run `make live`, and try again.";

// Imported here, so that the time of a run is not that of loading PyTorch.
const DEVICE_CODE = `import json, torch
from lesson_code.devices import choose_device, device_name
print(json.dumps([device_name(choose_device()), str(torch.__version__)]))`;

/** Why a run did not come to its end; the message is for the reader. */
export class KernelError extends Error {}

/**
 * @typedef {"ok" | "error" | "interrupted"} Outcome
 * @typedef {{text(text: string): void, image?(png: string): void}} Listener image: in base64
 * @typedef {{listener: Listener, replied: boolean, idle: boolean, outcome: Outcome,
 *   finish: (outcome: Outcome) => void, fail: (problem: Error) => void}} Run
 */

/** Ask the server for something that changes a kernel. @param {string} method @param {string} path */
async function ask(method, path, keepalive = false) {
  const token = /(?:^|; )_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const headers = { "Content-Type": "application/json", "X-XSRFToken": token };
  // Without a path it would work where the server was started, among the project's files.
  const body = method === "POST" && path === "" ? JSON.stringify({ name: "python3", path: "" }) : null;
  const answer = await fetch(`/api/kernels${path}`, { method, headers, body, keepalive }).catch(() => {
    throw new KernelError(GONE);
  });
  if (!answer.ok) throw new KernelError(answer.status === 404 && path ? DIED : GONE);
  return answer;
}

export class Kernel {
  /** The device's name and PyTorch's version, once they are known. @type {string | undefined} */
  device;
  /** What ran in this process that later code may build on. @type {Set<string>} */
  ran = new Set();
  #id = "";
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {Promise<void> | undefined} */
  #ready;
  /** @type {Map<string, Run>} */
  #runs = new Map();

  get started() {
    return this.#ready !== undefined;
  }

  /** Run code to its end. @param {string} code @param {Listener} listener @returns {Promise<{outcome: Outcome, seconds: number}>} */
  async run(code, listener) {
    await this.start();
    const begin = performance.now();
    const outcome = await this.#execute(code, listener);
    return { outcome, seconds: (performance.now() - begin) / 1000 };
  }

  /** Start the process if there is none, and ask it which device PyTorch uses. */
  start() {
    const starting = (this.#ready ??= this.#begin());
    starting.catch(() => this.#ready === starting && this.end());
    return starting;
  }

  /** As Ctrl-C does. */
  async interrupt() {
    if (this.#id) await ask("POST", `/${this.#id}/interrupt`);
  }

  /** Begin afresh, in a new process. */
  async restart() {
    if (!this.#id) return;
    this.#fail(new KernelError(RESTARTED));
    this.#close();
    this.#ready = ask("POST", `/${this.#id}/restart`).then(() => this.#connect());
    await this.start();
  }

  /** End the process, even while the page goes away. */
  end() {
    const id = this.#id;
    this.#forget();
    if (id) ask("DELETE", `/${id}`, true).catch(() => undefined);
  }

  async #begin() {
    const answer = await ask("POST", "");
    this.#id = (await answer.json()).id;
    await this.#connect();
  }

  async #connect() {
    this.ran.clear();
    await this.#open();
    let said = "";
    const outcome = await this.#execute(DEVICE_CODE, { text: (text) => (said += text) });
    const names = outcome === "ok" ? said.trim().split("\n").at(-1) : undefined;
    if (!names) throw new KernelError(outcome === "interrupted" ? EARLY : WITHOUT_TORCH);
    const [device, version] = JSON.parse(names);
    this.device = `${device}, PyTorch ${version}`;
  }

  /** @returns {Promise<void>} */
  #open() {
    const address = new URL(`/api/kernels/${this.#id}/channels`, location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.searchParams.set("session_id", crypto.randomUUID());
    const socket = new WebSocket(address, PROTOCOL);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#take(unpack(data));
    return new Promise((resolve, reject) => {
      socket.onopen = () => {
        if (socket.protocol === PROTOCOL) resolve();
        else reject(new KernelError("The server speaks another language than this page; update the project, and run `make live` again."));
      };
      socket.onclose = () => {
        reject(new KernelError(GONE));
        this.#fail(new KernelError(GONE));
        this.#forget();
      };
    });
  }

  /** @param {string} code @param {Listener} listener @returns {Promise<Outcome>} */
  #execute(code, listener) {
    const msg_id = crypto.randomUUID();
    const header = {
      ...{ msg_id, msg_type: "execute_request", username: "", session: msg_id, version: "5.4" },
      date: new Date().toISOString(),
    };
    const content = { code, silent: false, store_history: false, allow_stdin: false, stop_on_error: true };
    return new Promise((finish, fail) => {
      this.#runs.set(msg_id, { listener, finish, fail, replied: false, idle: false, outcome: "ok" });
      const message = { channel: "shell", header, parent_header: {}, metadata: {}, content };
      this.#socket?.send(pack(message));
    });
  }

  /** @param {import("./wire.js").Message} message */
  #take({ header, parent_header, content }) {
    const { execution_state: state } = content;
    if (header.msg_type === "status" && (state === "restarting" || state === "dead")) {
      this.ran.clear();
      this.#fail(new KernelError(DIED));
      if (state === "dead") this.end();
      return;
    }
    const id = String(parent_header.msg_id);
    const run = this.#runs.get(id);
    if (!run) return;
    if (header.msg_type === "stream") run.listener.text(plainText(content.text));
    const png = /** @type {{[kind: string]: unknown}} */ (content.data ?? {})["image/png"];
    if (header.msg_type === "display_data" && png) run.listener.image?.(String(png));
    if (header.msg_type === "error") {
      run.outcome = content.ename === "KeyboardInterrupt" ? "interrupted" : "error";
      const lines = /** @type {string[]} */ (content.traceback ?? []);
      if (run.outcome === "error") run.listener.text(plainText(lines.join("\n")));
    }
    if (header.msg_type === "execute_reply") run.replied = true;
    if (header.msg_type === "status" && state === "idle") run.idle = true;
    // Both, since the reply may overtake the last output.
    if (!run.replied || !run.idle) return;
    this.#runs.delete(id);
    run.finish(run.outcome);
  }

  /** @param {Error} problem */
  #fail(problem) {
    for (const run of this.#runs.values()) run.fail(problem);
    this.#runs.clear();
  }

  #close() {
    if (!this.#socket) return;
    this.#socket.onclose = null;
    this.#socket.close();
  }

  #forget() {
    this.#close();
    this.ran.clear();
    this.#id = "";
    this.#ready = undefined;
  }
}

/** The page's only one. */
export const kernel = new Kernel();
