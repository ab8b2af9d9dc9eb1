// <kept-tasks id>: a task list whose ticks this browser keeps, with one note per page to take away.
//
// It improves on a list of labelled checkboxes that nobody can tick. The ids of the boxes are the
// names under which they are kept.

import { TASKS, browserRecord, progressOf, readEntries, saveEntry } from "./record.js";

// Loaded when somebody exports.
const note = () => import("./task-note.js");

/** @typedef {import("./task-note.js").TaskGroup} TaskGroup */

export class KeptTasks extends HTMLElement {
  #progress = Object.assign(document.createElement("p"), { className: "tasks-progress" });
  #message = Object.assign(document.createElement("p"), { className: "tasks-message" });

  connectedCallback() {
    if (!this.#progress.isConnected) this.#build();
    document.addEventListener("record-changed", this.#restore);
    this.#restore();
  }

  disconnectedCallback() {
    document.removeEventListener("record-changed", this.#restore);
  }

  /** @returns {HTMLInputElement[]} */
  get boxes() {
    return [...this.querySelectorAll(/** @type {"input"} */ ("input[type=checkbox]"))];
  }

  #build() {
    for (const box of this.boxes) {
      box.disabled = false;
      box.addEventListener("change", () => this.#keep(box));
    }
    this.append(this.#progress);
    if ([...document.querySelectorAll("kept-tasks")].at(-1) === this) this.append(...this.#exporter());
  }

  /** The button that exports all lists of the page, and where it says what it did. */
  #exporter() {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "md-button", textContent: "Export as a note" });
    button.addEventListener("click", () => this.#export());
    const buttons = Object.assign(document.createElement("p"), { className: "tasks-buttons" });
    buttons.append(button);
    const status = Object.assign(document.createElement("div"), { role: "status" });
    status.append(this.#message);
    return [buttons, status];
  }

  /** @param {HTMLInputElement} box */
  #keep(box) {
    const { store, lasting } = browserRecord();
    const entry = { done: box.checked, at: new Date().toISOString() };
    const kept = saveEntry(store, TASKS, box.id, entry) && lasting;
    if (!kept) box.closest("li")?.setAttribute("data-kept", "no");
    this.#showProgress(kept);
    if (kept || !lasting) document.dispatchEvent(new Event("record-changed"));
  }

  /** Tick what the record says: it may have changed on another page, or by an import. */
  #restore = () => {
    const kept = readEntries(browserRecord().store, TASKS);
    for (const box of this.boxes) {
      // What the browser refused to keep stays as the learner left it
      if (box.closest("[data-kept]") && !kept[box.id]) continue;
      box.checked = kept[box.id]?.done === true;
    }
    this.#showProgress(browserRecord().lasting || !this.boxes.some(({ checked }) => checked));
  };

  /** @param {boolean} kept */
  #showProgress(kept) {
    const tasks = this.boxes.map(({ checked }) => ({ done: checked }));
    const warning = " Your browser keeps nothing for this site, so export the note before you close this page.";
    this.#progress.textContent = `${progressOf(tasks)}.${kept ? "" : warning}`;
  }

  async #export() {
    const { noteName, taskNote } = await note();
    const lists = /** @type {KeptTasks[]} */ ([...document.querySelectorAll("kept-tasks")]);
    const title = inWords(document.querySelector("h1")) || document.title;
    const groups = lists.map((list) => ({
      heading: headingOf(list) || title,
      tasks: list.boxes.map((box) => ({
        text: inWords(box.nextElementSibling),
        done: box.checked,
      })),
    }));
    const now = new Date();
    const file = new Blob([taskNote(title, now, groups)], { type: "text/markdown" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = noteName(title, now);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    this.#message.textContent = `Exported to ${link.download}.`;
  }
}

/** The words of the heading that a list is under. @param {Element} list */
function headingOf(list) {
  const above = [...document.querySelectorAll("h2, h3, h4")].filter(
    (heading) => heading.compareDocumentPosition(list) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return inWords(above.at(-1) ?? null);
}

/** The text of an element, with code and strong words as Markdown writes them.
 * @param {Element | null} element @returns {string} */
function inWords(element) {
  const parts = [...(element?.childNodes ?? [])].map((node) => {
    if (!(node instanceof Element)) return node.textContent ?? "";
    if (node.matches(".headerlink")) return "";
    if (node.matches("code")) return `\`${node.textContent}\``;
    return node.matches("strong") ? `**${inWords(node)}**` : inWords(node);
  });
  return parts.join("").trim().replace(/\s+/g, " ");
}
