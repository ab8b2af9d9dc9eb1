// <compare-machine>: takes in the result file of the reader's machine, and shows it beside the others.
//
// The file is read here, in the browser; nothing is sent anywhere. The checker is loaded when a file
// is chosen, and what fills the page's tables when there is a machine to put into them.

import { keep, keptMachine, keptMachines, remove, whereOf } from "./own-machine.js";
import { ROOT } from "./record.js";

const SCHEMA = new URL("benchmarks/schema.json", ROOT);
const CHECKER = new URL("assets/vendor/json-schema/validate.js", ROOT);

/** @returns {Promise<{schema: {[key: string]: unknown}, validate: import("./result-file.js").Validate}>} */
async function checker() {
  const [answer, library] = await Promise.all([fetch(SCHEMA), import(CHECKER.href)]);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return { schema: await answer.json(), validate: library.validate };
}

export class CompareMachine extends HTMLElement {
  #file = Object.assign(document.createElement("input"), {
    type: "file",
    accept: ".json,application/json",
    hidden: true,
  });
  #choose = this.#button("Choose a result file", () => this.#file.click());
  #drop = Object.assign(document.createElement("div"), { className: "drop" });
  #message = Object.assign(document.createElement("p"), { className: "drop-message", role: "status" });
  #kept = Object.assign(document.createElement("div"), { className: "own-machine" });

  connectedCallback() {
    const hint = Object.assign(document.createElement("span"), { textContent: " or drop it here" });
    this.#drop.replaceChildren(this.#choose, hint, this.#file, this.#message);
    this.replaceChildren(this.#drop, this.#kept);
    this.#file.onchange = () => this.#take([...(this.#file.files ?? [])]);
    this.#drop.ondragover = (event) => {
      event.preventDefault();
      this.#drop.classList.add("over");
    };
    this.#drop.ondragleave = () => this.#drop.classList.remove("over");
    this.#drop.ondrop = (event) => {
      event.preventDefault();
      this.#drop.classList.remove("over");
      this.#take([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener("own-machine-changed", this.#draw);
    this.#draw();
  }

  disconnectedCallback() {
    removeEventListener("own-machine-changed", this.#draw);
  }

  /** @param {string} text @param {() => void} onClick */
  #button(text, onClick) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "md-button", textContent: text });
    button.addEventListener("click", onClick);
    return button;
  }

  /** @returns {ParentNode} */
  get #page() {
    return this.closest("article") ?? document;
  }

  /** The names of all figures that a result file may give. */
  get #known() {
    return this.#page.querySelector("[data-known]")?.getAttribute("data-known")?.split(" ") ?? [];
  }

  /** @param {string} text @param {boolean} isError */
  #say(text, isError = false) {
    this.#message.textContent = text;
    this.#message.classList.toggle("error", isError);
  }

  /** Take in one file, or say in one sentence why not. @param {File[]} files */
  async #take(files) {
    const [file] = files;
    if (!file || files.length > 1) {
      if (files.length > 1) this.#say("These are several files; choose one of them.", true);
      else this.#say("No file arrived; choose the .json file that the job wrote.", true);
      return;
    }
    this.#say(`Reading ${file.name} …`);
    const { ResultError, checkSize, expanded, readResult } = await import("./result-file.js");
    try {
      checkSize(file.size);
      const bytes = new Uint8Array(await file.arrayBuffer());
      const tools = await checker().catch(() => {
        throw new ResultError("The checker could not be loaded; serve the site with `make serve`, and try again.");
      });
      const { ignored, ...result } = readResult(bytes, { ...tools, known: new Set(this.#known.flatMap(expanded)) });
      const lasting = keep(result, file.name);
      this.#say(taken(file.name, Object.keys(result.figures).length, ignored, lasting));
    } catch (problem) {
      const sentence =
        problem instanceof ResultError ? problem.message : "The file could not be read; choose it again.";
      this.#say(`${file.name}: ${sentence} Nothing was changed.`, true);
    } finally {
      this.#file.value = ""; // so that choosing the same file again counts as a change
    }
  }

  /** Put the machine into the page's tables, or take it out of them. */
  async #fillTables() {
    if (!keptMachine() && !this.#page.querySelector(".results-table .own")) return;
    const { showOwn } = await import("./own-columns.js");
    showOwn(this.#page, keptMachines());
  }

  #draw = () => {
    const kept = keptMachine();
    this.#fillTables();
    this.#kept.replaceChildren();
    if (!kept) return;
    const count = Object.keys(kept.figures).length;
    const name = Object.assign(document.createElement("p"), { className: "own-machine-name" });
    name.append(
      Object.assign(document.createElement("strong"), { textContent: kept.label }),
      `: ${whereOf(kept.provenance)}. ${count} figures from ${kept.file || "your race"}.`,
    );
    const buttons = document.createElement("p");
    buttons.className = "own-machine-buttons";
    buttons.append(
      this.#button("Save the comparison", () => this.#save()),
      " ",
      this.#button("Print", () => print()),
      " ",
      this.#button("Remove my machine", () => this.#remove()),
    );
    const what = Object.assign(document.createElement("p"), {
      className: "own-machine-note",
      textContent:
        "Remove deletes these figures from this browser, and with them your bars and columns on every " +
        `page.${kept.file ? " Your file stays where it is." : ""}`,
    });
    this.#kept.append(name, buttons, what);
  };

  async #save() {
    const { comparison } = await import("./comparison.js");
    const kept = keptMachine();
    const table = this.#page.querySelector(".results-main th.own")?.closest("table");
    if (!kept || !table) return;
    const sources = [...(table.closest(".results")?.querySelectorAll(".results-sources li") ?? [])];
    const text = comparison(
      [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent ?? "")),
      [`${kept.label}: ${whereOf(kept.provenance)}.`, ...sources.map((one) => one.textContent ?? "")],
    );
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
    link.download = `comparison-${new Date().toISOString().slice(0, 10)}.md`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    this.#say(`Saved as ${link.download}: the table below, and where each column was measured.`);
  }

  #remove() {
    const removed = remove();
    this.#choose.focus();
    if (removed) this.#say("Your machine is removed from this browser.");
    else this.#say("Your browser refused to remove it; clear this site’s data in its settings.", true);
  }
}

/** @param {string} name @param {number} count @param {string[]} ignored @param {boolean} lasting */
function taken(name, count, ignored, lasting) {
  const others = ignored.length === 1 ? "1 figure is" : `${ignored.length} figures are`;
  return [
    `${name} is taken in: ${count} figures.`,
    ignored.length ? `${others} unknown to this site and left out.` : "",
    lasting ? "" : "Your browser keeps nothing for this site, so they last until you leave or reload it.",
  ]
    .filter(Boolean)
    .join(" ");
}
