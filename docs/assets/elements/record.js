// The learner's record: what the browser keeps for them. Pure: no page, only a Storage to work on.
// One module, since every page loads it, and every request counts; so it ends with the two moves that
// every element makes: make a piece of a page, and find one that must be there.
//
// Each feature has one key, `gpu-training.<feature>.v<version>`. Its value is a JSON object of named
// entries, and every entry says in `at` when it was made, so that two records can be merged.

/** @typedef {{at: string, [field: string]: unknown}} Entry */
/** @typedef {{[name: string]: Entry}} Entries */
/** @typedef {Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">} Store */

export const CHECKS = "gpu-training.checks.v1";
export const PROGRESS = "gpu-training.progress.v1";
export const TASKS = "gpu-training.tasks.v1";
export const REPORTS = "gpu-training.reports.v1";
export const MISSION = "gpu-training.mission.v1"; // mission/stored.js checks what is in it
export const DECISIONS = "gpu-training.design-ledger.v1"; // a design ledger for each chapter
export const MACHINE = "gpu-training.machine.v1"; // own-machine.js says what is in it
export const EDITS = "gpu-training.edits.v1"; // snippets that they changed, and what runs after each
export const CARD = "gpu-training.card.v1"; // the one under “mine” is the reader’s
export const ANSWERS = "gpu-training.answers.v1"; // “all”, where the reader wants each to be open

const LONGEST_TEXT = 5_000;

/** Keeps entries until the page is closed, where the browser keeps nothing. @implements {Store} */
export class MemoryStore {
  /** @type {Map<string, string>} */
  #values = new Map();
  get length() {
    return this.#values.size;
  }
  /** @param {number} index */
  key(index) {
    return [...this.#values.keys()][index] ?? null;
  }
  /** @param {string} key */
  getItem(key) {
    return this.#values.get(key) ?? null;
  }
  /** @param {string} key @param {string} value */
  setItem(key, value) {
    this.#values.set(key, value);
  }
  /** @param {string} key */
  removeItem(key) {
    this.#values.delete(key);
  }
}

/**
 * The browser's storage, or one in memory where the browser denies it.
 * @param {{localStorage: Storage}} host
 * @returns {{store: Store, lasting: boolean}}
 */
export function openStore(host) {
  try {
    host.localStorage.getItem(CHECKS);
    return { store: host.localStorage, lasting: true };
  } catch {
    return { store: new MemoryStore(), lasting: false };
  }
}

/** @type {ReturnType<typeof openStore> | undefined} */
let opened;

/** The one record of this page, opened at its first use. */
export function browserRecord() {
  return (opened ??= openStore(globalThis));
}

/** @param {unknown} value @returns {value is {[name: string]: unknown}} */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === "string" && value.length <= LONGEST_TEXT;
/** @param {unknown} value */
const isTime = (value) => isText(value) && /^\d{4}-\d\d-\d\dT/.test(value) && Date.parse(value) > 0;

/** A figure of a result file, as a table and a chart can show it. @param {unknown} value */
const isFigure = (value) =>
  isObject(value) &&
  Number.isFinite(value.value) &&
  Number.isFinite(value.spread) &&
  typeof value.noisy === "boolean" &&
  isText(value.text) &&
  !/[<>\\]/.test(value.text);

/**
 * What is wrong with an entry, or an empty string.
 * @param {string} key
 * @param {string} name
 * @param {unknown} entry
 */
export function problemOf(key, name, entry) {
  if (!isObject(entry)) return "is no entry";
  if (!isTime(entry.at)) return "has no valid time";
  if (key === CHECKS) {
    const type = ["sentence", "match", "place"].includes(String(entry.kind)) ? "string" : "number";
    if (!["choice", "number", "line", "match", "place", "sentence"].includes(String(entry.kind)))
      return "has an unknown kind";
    if (typeof entry.value !== type || entry.value === "" || !isText(entry.text))
      return "has no valid prediction";
    if (!["undefined", "boolean"].includes(typeof entry.had)) return "has no valid mark";
    if (entry.ticks !== undefined && !isText(entry.ticks)) return "has no valid ticks";
  }
  if (key === ANSWERS && typeof entry.shown !== "boolean") return "does not say whether they are shown";
  if (key === TASKS && typeof entry.done !== "boolean") return "does not say whether it is done";
  if (key === REPORTS && (!isText(entry.text) || !entry.text)) return "has no valid text";
  if (key === EDITS && !(isText(entry.text) && isText(entry.lines))) return "has no valid text";
  if (key === PROGRESS) {
    // The name becomes a link, so nothing but the address of a page below the site's root will do.
    if (!/^([a-z0-9-]+\/)+$/.test(name)) return "is no address of a page";
    if (!isText(entry.title) || !entry.title) return "has no valid title";
    if (!/^[\w-]*$/.test(String(entry.heading ?? ""))) return "names no heading";
    if (!["undefined", "number"].includes(typeof entry.place)) return "has no valid place";
  }
  if (key === MISSION && !isObject(entry.act1)) return "is no mission";
  if (key === DECISIONS && !isObject(entry.ledger)) return "is no decision";
  if (key === CARD && !(isText(entry.card) && /^[a-z\d-]{1,40}$/.test(entry.card))) return "names no card";
  if (key === MACHINE) {
    if (!isText(entry.label) || !entry.label || !isText(entry.file)) return "has no valid name";
    if (!isObject(entry.provenance)) return "does not say where it was measured";
    if (!isObject(entry.figures) || !Object.values(entry.figures).every(isFigure))
      return "has figures that are not valid";
  }
  return "";
}

/**
 * Entries under the names that they have today: a section's address once had its number in it.
 * Of two that come to one name, the later stays.
 * @template T
 * @param {string} key
 * @param {T} entries
 * @returns {T}
 */
export function renamed(key, entries) {
  if (key !== PROGRESS || !isObject(entries)) return entries;
  /** @type {{[name: string]: unknown}} */
  const result = {};
  const at = (/** @type {unknown} */ entry) => (isObject(entry) ? String(entry.at) : "");
  for (const [old, entry] of Object.entries(entries)) {
    const name = old.replace(/^gpu-training\/\d\d-/, "gpu-training/");
    if (!Object.hasOwn(result, name) || at(entry) > at(result[name])) result[name] = entry;
  }
  return /** @type {T} */ (result);
}

/** @param {string} key @param {unknown} value @returns {Entries} */
function goodEntries(key, value) {
  const entries = isObject(value) ? Object.entries(value) : [];
  return /** @type {Entries} */ (
    Object.fromEntries(entries.filter(([name, entry]) => !problemOf(key, name, entry)))
  );
}

/** @param {string} text @returns {unknown} */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keep a text that nobody can read under the first free `.damaged` key.
 * @param {Store} store @param {string} key @param {string} text */
export function keepDamaged(store, key, text) {
  let place = `${key}.damaged`;
  for (let n = 2; ![null, text].includes(store.getItem(place)); n += 1) place = `${key}.damaged.${n}`;
  store.setItem(place, text);
}

/**
 * The entries of a feature. What can't be read is moved to a `.damaged` key; the rest is returned.
 * Throws where the browser refuses to keep the damaged text, so that nobody writes over it.
 * @param {Store} store
 * @param {string} key
 * @returns {Entries}
 */
export function repaired(store, key) {
  const text = store.getItem(key);
  if (text === null) return {};
  const value = renamed(key, parsed(text));
  const good = goodEntries(key, value);
  if (!isObject(value) || Object.keys(good).length < Object.keys(value).length) {
    keepDamaged(store, key, text);
    store.setItem(key, JSON.stringify(good));
  }
  return good;
}

/**
 * The good entries of a feature; none where the browser refuses to be read.
 * @param {Store} store
 * @param {string} key
 * @returns {Entries}
 */
export function readEntries(store, key) {
  try {
    return repaired(store, key);
  } catch {
    return {};
  }
}

/**
 * Set one entry of a feature, or remove it.
 * @param {Store} store
 * @param {string} key
 * @param {string} name
 * @param {Entry | null} entry
 * @returns {boolean} whether the browser took it
 */
export function saveEntry(store, key, name, entry) {
  try {
    const others = Object.entries(repaired(store, key)).filter(([other]) => other !== name);
    const entries = entry ? [...others, [name, entry]] : others;
    store.setItem(key, JSON.stringify(Object.fromEntries(entries)));
    return true;
  } catch {
    return false;
  }
}

/** Whether the reader wants every answer to be open. */
export const answersShown = () => readEntries(browserRecord().store, ANSWERS).all?.shown === true;

/** @param {boolean} shown */
export function showAnswers(shown) {
  saveEntry(browserRecord().store, ANSWERS, "all", { at: new Date().toISOString(), shown });
  document.dispatchEvent(new Event("record-changed"));
}

// Progress: which pages of the tracks were opened, each under its address.

// assets/elements/ lies two levels below the site's root, wherever the site is served.
export const ROOT = new URL("../../", import.meta.url).href;

/**
 * What an element needs once somebody acts: in the page, or on a finished site in a file of its own.
 * @param {HTMLElement} element
 * @returns {Promise<any>}
 */
export async function apart({ dataset: { apart: written, at } }) {
  if (written) return JSON.parse(written);
  const answer = await fetch(new URL(`assets/data/${at}`, ROOT));
  if (!answer.ok) throw new Error(`assets/data/${at}: ${answer.status}`);
  return answer.json();
}

// The lesson on one page is no step on the way.
const ON_THE_WAY = /^(foundations|gpu-training|notebooks|lab|mission|benchmarks)\/([a-z0-9-]+\/)*$/;
const ASIDE = "gpu-training/whole-lesson/";

/** The address of a page below the site's root, without question and anchor; empty for another site.
 * @param {string} href @param {string} root */
export function addressOf(href, root) {
  const address = href.replace(/[?#].*/, "");
  return address.startsWith(root) ? address.slice(root.length) : "";
}

/**
 * A visit to a page of a track, whose title may have a number; null for any other page.
 * @param {string} href
 * @param {string} root
 * @param {string} heading
 * @returns {{address: string, title: string} | null}
 */
export function visitOf(href, root, heading) {
  const address = addressOf(href, root);
  const title = heading.replace(/^\d+\.\s+/, "");
  return title && address !== ASIDE && ON_THE_WAY.test(address) ? { address, title } : null;
}

/** @typedef {{address: string, title: string}} Place an address below the root, perhaps of a heading */

/**
 * The page opened last, at the heading where the reader left it; and the page of its track that lies
 * furthest on the way, if that is another one.
 * @param {Entries} entries
 * @returns {{last: Place, furthest: Place | null} | null}
 */
export function whereTheyWere(entries) {
  const [latest] = Object.entries(entries).sort(([, a], [, b]) => (a.at < b.at ? 1 : -1));
  if (!latest) return null;
  const [track] = latest[0].split("/", 1);
  const far = (/** @type {[string, Entry]} */ [, entry]) => Number(entry.place ?? -1);
  const of = Object.entries(entries).filter(([address]) => address.startsWith(`${track}/`));
  const furthest = of.reduce((best, each) => (far(each) > far(best) ? each : best), latest);
  return { last: placeOf(latest), furthest: furthest === latest ? null : placeOf(furthest) };
}

/** @param {[string, Entry]} entry @returns {Place} */
function placeOf([address, { title, heading }]) {
  // Records of earlier days have the number that the section had then.
  const name = String(title).replace(/^\d+\.\s+/, "");
  return { address: heading ? `${address}#${heading}` : address, title: name };
}

/** How far the learner is: "2 of 5 done". @param {{done: boolean}[]} tasks */
export function progressOf(tasks) {
  return `${tasks.filter(({ done }) => done).length} of ${tasks.length} done`;
}

// The card for which pages show forecasts: one for the whole site. Anyone who shows a forecast asks
// chosenCard(), and again whenever the window hears `card-changed`.

export const FIRST_CARD = "t4"; // the one that Colab lends, and that pages name without JavaScript
const ITS_NAME = "mine"; // there is one; another choice takes its place

/**
 * The id of the reader's card.
 * @param {string[]} [offered] those that can be shown
 * @returns {string}
 */
export function chosenCard(offered) {
  const card = String(readEntries(browserRecord().store, CARD)[ITS_NAME]?.card ?? FIRST_CARD);
  return offered && !offered.includes(card) ? FIRST_CARD : card;
}

/** Choose a card. @param {string} card its id @returns {boolean} whether it outlasts this page */
export function chooseCard(card) {
  const { store, lasting } = browserRecord();
  const saved = saveEntry(store, CARD, ITS_NAME, { at: new Date().toISOString(), card });
  globalThis.dispatchEvent?.(new Event("card-changed"));
  return saved && lasting;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * The first part of a page that a selector names.
 * @template {Element} Kind
 * @param {ParentNode} root
 * @param {string} selector
 * @param {{new (): Kind}} kind what it must be, such as HTMLDetailsElement
 * @returns {Kind}
 */
export function part(root, selector, kind) {
  const found = root.querySelector(selector);
  if (found instanceof kind) return found;
  throw new TypeError(`there is no ${kind.name} at ${selector}`);
}
