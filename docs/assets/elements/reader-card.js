// <reader-card>: the list of cards from which the reader chooses theirs, once for the whole site.
//
// The build wrote every text for every card: data-texts has, by figure, where it comes from, with a
// blank for the card's name, and by card what the sentence says and its band. Here they are only put
// in place.

import { chooseCard, chosenCard } from "./record.js";

/** @typedef {[text: string, band: string]} Told */
/** @typedef {{[figure: string]: [source: string, cards: {[card: string]: Told}]}} Texts */

const NAME = "forecast.card"; // the figure that is the card's name
const BLANK = "{card}"; // in a source, for that name

export class ReaderCard extends HTMLElement {
  /** @type {Texts | undefined} */
  #texts;

  connectedCallback() {
    this.#texts ??= JSON.parse(this.dataset.texts ?? "{}");
    addEventListener("card-changed", this.#show);
    this.#show();
  }

  disconnectedCallback() {
    removeEventListener("card-changed", this.#show);
  }

  get #list() {
    return /** @type {HTMLSelectElement} */ (this.querySelector("select"));
  }

  /** lesson.js hands over what the reader did here. @param {Element} _list @param {string} card */
  use(_list, card) {
    const lasting = chooseCard(card);
    const ends = lasting ? "" : " Your browser keeps nothing for this site, so they are until you leave it.";
    const status = this.querySelector("[role=status]");
    status?.classList.toggle("seen", !lasting); // a list that says it needs no second line below it
    if (status) status.textContent = `Forecasts are now for the ${this.#name}.${ends}`;
  }

  get #name() {
    return this.#list.selectedOptions[0]?.text ?? "";
  }

  #show = () => {
    const card = chosenCard([...this.#list.options].map(({ value }) => value));
    this.#list.value = card;
    const page = this.closest("article") ?? document;
    for (const each of page.querySelectorAll(`[data-figure="${NAME}"]`)) each.textContent = this.#name;
    for (const [figure, [blank, cards]] of Object.entries(this.#texts ?? {})) {
      const told = cards[card];
      if (!told) continue;
      const source = blank.replace(BLANK, this.#name);
      for (const each of page.querySelectorAll(`[data-figure="${figure}"]`)) rewrite(each, told, source);
      document.getElementById(`from-${figure}`)?.replaceChildren(strong(told[0]), source);
    }
  };
}

/** Put a forecast into its sentence. @param {Element} span @param {Told} told @param {string} source */
function rewrite(span, [text, band], source) {
  const link = span.querySelector("a");
  if (!link) return;
  link.textContent = text;
  link.title = source.replace(/^[^:]*: /, "");
  span.replaceChildren(link, ...(band ? [` (forecast, ${band})`] : []));
}

/** @param {string} text */
const strong = (text) => Object.assign(document.createElement("strong"), { textContent: text });
