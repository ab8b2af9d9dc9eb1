// <continue-reading>: turns a link to the lesson's start into one to where the learner was last, and
// adds one to the furthest page of that track, for anyone who went back to look something up. Whoever
// looked something up among the benchmarks still was where they had been before. The page's list of
// tracks is told how many pages of each were opened.

import { PROGRESS, ROOT, browserRecord, make, readEntries, whereTheyWere } from "./record.js";

export class ContinueReading extends HTMLElement {
  connectedCallback() {
    const link = this.querySelector("a");
    const opened = readEntries(browserRecord().store, PROGRESS);
    tellTracks(Object.keys(opened));
    const read = Object.entries(opened).filter(([address]) => !address.startsWith("benchmarks/"));
    const were = whereTheyWere(Object.fromEntries(read));
    if (!link || !were) return;
    const { last, furthest } = were;
    link.href = new URL(last.address, ROOT).href;
    link.textContent = `Go on with ${last.title}`;
    if (!furthest) return;
    const href = new URL(furthest.address, ROOT).href;
    this.append(" ", make("a", { href, className: "md-button", textContent: `Furthest: ${furthest.title}` }));
  }
}

/** After what a track takes: how many of its pages were opened. @param {string[]} opened */
function tellTracks(opened) {
  for (const track of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".map [data-track]"))) {
    const { track: folder, pages } = track.dataset;
    const count = opened.filter((address) => address.startsWith(`${folder}/`)).length;
    const note = track.parentElement;
    if (count && note && !note.querySelector("strong")) note.append(" ", make("strong", {}, `${count} of ${pages} pages opened.`));
  }
}
