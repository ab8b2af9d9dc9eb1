// Puts the reader's own machine into the tables of results: a column, or a group of rows.

/** @typedef {import("./own-machine.js").Kept} Kept */

const OWN = "own"; // what is in data-machine
/** What is said where it has nothing: a race in the page is no file. @param {Kept} machine */
const missing = ({ points }) => (points ? "no result" : "not in your file");

/** @param {string} tag @param {string} content @param {{[name: string]: string}} attributes */
function element(tag, content, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = content;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** @param {Kept} machine @param {string} name @param {boolean} [bare] of a unit that the caption says */
function cell(machine, name, bare = false) {
  const figure = Object.hasOwn(machine.figures, name) ? machine.figures[name] : undefined;
  const named = { "data-figure": name, "data-kind": "measured" };
  if (!figure) return element("td", missing(machine), { class: "own not-measured", ...named });
  const noisy = figure.noisy ? " (noisy)" : "";
  const text = bare ? figure.text.replace(/\s+per second$/, "") : figure.text;
  return element("td", text + noisy, { class: "own", ...named });
}

/** Whether a table is for its kind of machine. @param {HTMLTableElement} table @param {Kept} machine */
const fits = ({ dataset }, { provenance }) => [undefined, provenance.engine ? "In a browser" : "PyTorch"].includes(dataset.measurer);

/** Figures down: a column right behind the names. @param {HTMLTableElement} table @param {Kept} machine */
function addColumn(table, machine) {
  const heading = element("th", machine.label, { scope: "col", class: "own", "data-machine": OWN });
  table.tHead?.rows[0]?.cells[0]?.after(heading);
  for (const row of table.tBodies[0]?.rows ?? []) {
    const name = row.querySelector("td")?.dataset.figure;
    if (name) row.cells[0]?.after(cell(machine, name));
  }
}

/** A figure of a family that is shown with two sides. @param {string} pattern @param {string} row @param {string} column */
const nameOf = (pattern, row, column) =>
  row.split(",").reduce((name, part, n) => name.replaceAll(`{${n}}`, part), pattern.replace("{column}", column));

/** The figures that a table shows, or would show. @param {HTMLTableElement} table @returns {string[]} */
function figuresOf(table) {
  const { pattern, rows = "", columns = "" } = table.dataset;
  if (!pattern) return [...table.querySelectorAll("td[data-figure]")].map((cell) => cell.getAttribute("data-figure") ?? "");
  return rows.split(" ").flatMap((row) => columns.split(" ").map((column) => nameOf(pattern, row, column)));
}

/** A family's two sides: a group of rows above the others. @param {HTMLTableElement} table @param {Kept} machine */
function addGroup(table, machine) {
  const { pattern = "", rows = "", columns = "", titles = "" } = table.dataset;
  const across = columns.split(" ");
  const down = rows.split(" ").map((row, index) => ({ row, title: titles.split("|")[index] ?? row }));
  const named = (/** @type {string} */ row, /** @type {string} */ column) => nameOf(pattern, row, column);
  const body = element("tbody", "", { class: "own", "data-machine": OWN });
  const name = element("tr", "", { class: "machine" });
  const wide = String(across.length + 1);
  const bare = table.caption?.textContent.startsWith("Samples a second");
  name.append(element("th", machine.label, { scope: "rowgroup", colspan: wide }));
  body.append(name);
  const measured = down.filter(({ row }) =>
    across.some((column) => Object.hasOwn(machine.figures, named(row, column))),
  );
  for (const { row, title } of measured) {
    const line = element("tr", "");
    line.append(element("th", title, { scope: "row" }));
    for (const column of across) line.append(cell(machine, named(row, column), bare));
    body.append(line);
  }
  if (!measured.length) {
    const line = element("tr", "");
    line.append(element("td", missing(machine), { colspan: wide, class: "not-measured" }));
    body.append(line);
  }
  table.tHead?.after(body);
}

/**
 * Show what is the reader's in every table below `root`, or take it out of them. Of a file and a race
 * a table shows the one that measured any of it, else the file.
 * @param {ParentNode} root
 * @param {Kept[]} machines
 */
export function showOwn(root, machines) {
  for (const old of root.querySelectorAll(".results-table .own")) old.remove();
  for (const table of root.querySelectorAll("table.results-table")) {
    if (!(table instanceof HTMLTableElement)) continue;
    const fitting = machines.filter((one) => fits(table, one));
    const figures = figuresOf(table);
    const machine = fitting.find((one) => figures.some((name) => Object.hasOwn(one.figures, name))) ?? fitting.find(({ points }) => !points);
    if (!machine) continue;
    if (table.dataset.pattern) addGroup(table, machine);
    else if (table.querySelector("td[data-figure]")) addColumn(table, machine);
  }
  for (const folded of root.querySelectorAll("details.unmeasured"))
    if (folded.querySelector("td.own:not(.not-measured), .own td:not(.not-measured)"))
      folded.setAttribute("open", "");
}
