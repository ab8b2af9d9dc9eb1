// <continue-reading>: turns a link to the lesson's start into one to where the learner was last, and
// adds one to the furthest page of that track, for anyone who went back to look something up. The page's
// list of tracks is told how many pages of each were opened.

import { PROGRESS, ROOT, browserRecord, make, readEntries, whereTheyWere } from "./record.js";

export class ContinueReading extends HTMLElement {
  connectedCallback() {
    const link = this.querySelector("a");
    const opened = readEntries(browserRecord().store, PROGRESS);
    tellTracks(Object.keys(opened));
    const were = whereTheyWere(opened);
    if (!link || !were) return;
    const { last, furthest } = were;
    link.href = new URL(last.address, ROOT).href;
    link.textContent = `Go on with ${last.title}`;
    if (!furthest) return;
    const href = new URL(furthest.address, ROOT).href;
    this.append(" ", make("a", { href, className: "md-button", textContent: `Furthest: ${furthest.title}` }));
  }
}

/** Beside the minutes of a track: how many of its pages were opened. @param {string[]} opened */
function tellTracks(opened) {
  for (const track of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".map [data-track]"))) {
    const { track: folder, pages } = track.dataset;
    const count = opened.filter((address) => address.startsWith(`${folder}/`)).length;
    if (count && !track.firstElementChild) track.append(make("strong", { textContent: `, ${count} of ${pages} pages opened` }));
  }
}
