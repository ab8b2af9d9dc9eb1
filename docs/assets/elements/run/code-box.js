// A text to change: a text area, with the colours of code over it once Prism Code Editor has come. It
// is a text area still, so Tab moves on, and undo and screen readers find what they know.

const VENDOR = new URL("../../vendor/prism-code-editor/", import.meta.url);
const STYLES = [new URL("layout.css", VENDOR), new URL("./code-box.css", import.meta.url)];
const LONGEST = 5_000; // characters; record.js keeps no more of a text
const STEP = "    ";

/** @typedef {{textarea: HTMLTextAreaElement, container: HTMLElement, setOptions(options: {value: string}): void}} Editor */
/** @typedef {(container: null, options: object) => Editor} CreateEditor */

let count = 0;

/** What a new line begins with: the indentation of the one before it, and a step more after a colon. @param {string} before */
export function indentAfter(before) {
  const line = before.split("\n").at(-1) ?? "";
  const indent = /^ */.exec(line)?.[0] ?? "";
  return /:\s*(#.*)?$/.test(line) ? indent + STEP : indent;
}

/**
 * What puts colours over a text area, once it and its style have come.
 * @param {HTMLElement} host where the style is put
 * @returns {Promise<CreateEditor>}
 */
export async function loadColours(host) {
  const [{ createEditor }] = await Promise.all([
    import(new URL("index.js", VENDOR).href),
    import(new URL("prism/languages/python.js", VENDOR).href),
    ...STYLES.map((style) => dressed(host, style.href)),
  ]);
  return createEditor;
}

/** @param {HTMLElement} host @param {string} href */
function dressed(host, href) {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  const arrived = new Promise((resolve, reject) => Object.assign(link, { onload: resolve, onerror: reject }));
  host.prepend(link);
  return arrived;
}

export class CodeBox {
  #box = document.createElement("textarea");
  /** @type {Editor | undefined} */
  #editor;
  element = document.createElement("div");

  /** @param {string} name what it is, for people */
  constructor(name) {
    count += 1;
    this.#prepare(this.#box, `run-box-${count}`);
    this.element.append(Object.assign(document.createElement("label"), { htmlFor: this.#box.id, textContent: name }), this.#box);
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** @param {HTMLTextAreaElement} box @param {string} id */
  #prepare(box, id) {
    Object.assign(box, { id, spellcheck: false, maxLength: LONGEST, autocapitalize: "off" });
    box.setAttribute("wrap", "off");
  }

  get text() {
    return this.#box.value;
  }

  set text(text) {
    if (this.#editor) this.#editor.setOptions({ value: text });
    else Object.assign(this.#box, { value: text, rows: text.split("\n").length });
  }

  /** Go on as an editor with colours; anyone who is typing goes on at the same place. @param {CreateEditor} createEditor */
  colour(createEditor) {
    const old = this.#box;
    const focused = document.activeElement === old;
    const { selectionStart, selectionEnd, id } = old;
    this.#editor = createEditor(null, { language: "python", value: old.value, tabSize: STEP.length, lineNumbers: false });
    this.#box = this.#editor.textarea;
    this.#prepare(this.#box, id);
    old.replaceWith(this.#editor.container);
    this.#box.setSelectionRange(selectionStart, selectionEnd);
    if (focused) this.#box.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const indent = indentAfter(this.text.slice(0, this.#box.selectionStart));
    // As if typed, so that undo knows it; nothing else can do that.
    if (indent && document.execCommand("insertText", false, `\n${indent}`)) event.preventDefault();
  }
}
