// Which sections of the lesson were opened, and where to go on. Pure, but for `document` given in.

import { PROGRESS, browserRecord, saveEntry } from "./record.js";

/** @typedef {import("./record.js").Entries} Entries */

// assets/elements/ lies two levels below the site's root, wherever the site is served.
export const ROOT = new URL("../../", import.meta.url).href;

/**
 * The address of a lesson section, relative to the site's root; null for any other page.
 * @param {string} href
 * @param {string} root
 */
export function sectionAt(href, root) {
  const address = href.replace(/[?#].*/, "");
  const path = address.startsWith(root) ? address.slice(root.length) : "";
  return /^gpu-training\/\d\d-[a-z0-9-]+\/$/.test(path) ? path : null;
}

/** The section opened last. @param {Entries} entries @returns {{address: string, title: string} | null} */
export function lastOpened(entries) {
  const [latest] = Object.entries(entries).sort(([, a], [, b]) => (a.at < b.at ? 1 : -1));
  return latest ? { address: latest[0], title: String(latest[1].title) } : null;
}

/** "Go on with section 5: The loop" from "5. The loop". @param {string} title */
export function goOnWith(title) {
  return `Go on with ${title.replace(/^(\d+)\.\s+/, "section $1: ")}`;
}

/** A heading's words without the link that leads to it. @param {Element | null} heading */
function words(heading) {
  const copy = /** @type {Element | undefined} */ (heading?.cloneNode(true));
  copy?.querySelectorAll(".headerlink").forEach((link) => link.remove());
  return copy?.textContent?.trim().replace(/\s+/g, " ") ?? "";
}

/** Note that the section shown now was opened. @param {Document} page */
export function noteVisit(page) {
  const address = sectionAt(page.location.href, ROOT);
  const title = words(page.querySelector("h1"));
  if (address && title)
    saveEntry(browserRecord().store, PROGRESS, address, { title, at: new Date().toISOString() });
}
