// A page's task lists as a note in Markdown. Pure: what is on the page in, the note's text out.

import { progressOf } from "./record.js";

/** @typedef {{heading: string, tasks: {text: string, done: boolean}[]}} TaskGroup */

/** The day in the learner's own time zone, as in 2026-11-21. @param {Date} now */
export function dayOf(now) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/**
 * The note: a title, the day, and under each heading what is ticked and what is open.
 * @param {string} title
 * @param {Date} now
 * @param {TaskGroup[]} groups
 */
export function taskNote(title, now, groups) {
  const all = groups.flatMap(({ tasks }) => tasks);
  const parts = groups.map(({ heading, tasks }) => {
    const items = tasks.map(({ text, done }) => `- [${done ? "x" : " "}] ${oneLine(text)}\n`);
    return `\n## ${oneLine(heading)}\n\n${items.join("")}`;
  });
  return `# ${oneLine(title)}\n\n${dayOf(now)}, ${progressOf(all)}.\n${parts.join("")}`;
}

/** A name for the note's file: small letters, digits and hyphens. @param {string} title @param {Date} now */
export function noteName(title, now) {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return `${name || "tasks"}-${dayOf(now)}.md`;
}

/** @param {string} text */
const oneLine = (text) => text.trim().replace(/\s+/g, " ");
