// The note that task lists become: what is ticked, what is open, under which heading and when.

import assert from "node:assert/strict";
import { test } from "node:test";

import { progressOf } from "../../docs/assets/elements/record.js";
import { dayOf, noteName, taskNote } from "../../docs/assets/elements/task-note.js";

const NOW = new Date(2026, 10, 5, 23, 30); // 5 November, in whatever time zone this runs
const GROUPS = [
  { heading: "Step 1.  Workspace", tasks: [{ text: "**auto** `.venv`\n exists", done: true }] },
  {
    heading: "Step 2",
    tasks: [
      { text: "predicted", done: false },
      { text: "explained", done: true },
    ],
  },
];

test("a note lists ticked and open items under their headings, with title and day", () => {
  const expected = `# Lab

2026-11-05, 2 of 3 done.

## Step 1. Workspace

- [x] **auto** \`.venv\` exists

## Step 2

- [ ] predicted
- [x] explained
`;

  assert.equal(taskNote("Lab", NOW, GROUPS), expected);
});

test("a page without lists gives a note that says so", () => {
  assert.equal(taskNote("Lab", NOW, []), "# Lab\n\n2026-11-05, 0 of 0 done.\n");
});

test("a day has two digits for month and day, whatever the time zone", () => {
  assert.equal(dayOf(new Date(2026, 0, 2)), "2026-01-02");
});

test("a file's name has small letters, digits and hyphens", () => {
  assert.equal(noteName("Lab: six steps!", NOW), "lab-six-steps-2026-11-05.md");
  assert.equal(noteName("…", NOW), "tasks-2026-11-05.md");
});

test("progress counts what is done", () => {
  assert.equal(progressOf([{ done: true }, { done: false }]), "1 of 2 done");
});
