// <continue-reading>: turns a link to the lesson's start into one to where the learner was last.

import { PROGRESS, ROOT, browserRecord, lastOpened, readEntries } from "./record.js";

export class ContinueReading extends HTMLElement {
  connectedCallback() {
    const link = this.querySelector("a");
    const last = lastOpened(readEntries(browserRecord().store, PROGRESS));
    if (!link || !last) return;
    link.href = new URL(last.address, ROOT).href;
    link.textContent = `Go on with ${last.title}`;
  }
}
