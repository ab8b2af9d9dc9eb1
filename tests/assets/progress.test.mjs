// Progress: which addresses are sections, and where the home page sends the learner on.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ROOT, goOnWith, lastOpened, sectionAt } from "../../docs/assets/elements/record.js";

for (const root of ["http://127.0.0.1:8000/", "https://example.org/some/course/"]) {
  for (const [path, expected] of [
    ["gpu-training/05-device-aware-loop/", "gpu-training/05-device-aware-loop/"],
    ["gpu-training/05-device-aware-loop/#analogy", "gpu-training/05-device-aware-loop/"],
    ["gpu-training/05-device-aware-loop/?q=loop", "gpu-training/05-device-aware-loop/"],
    ["", null],
    ["gpu-training/", null],
    ["gpu-training/whole-lesson/", null],
    ["notebooks/05-x/", null],
  ])
    test(`below ${root} the page ${path || "home"} is ${expected ? "a section" : "no section"}`, () => {
      assert.equal(sectionAt(root + path, root), expected);
    });
}

test("a page of another site is no section", () => {
  assert.equal(sectionAt("https://example.org/gpu-training/05-x/", "https://example.org/course/"), null);
});

test("the section opened last is where to go on", () => {
  const entries = {
    "gpu-training/05-a/": { title: "5. A", at: "2026-11-21T10:00:00Z" },
    "gpu-training/02-b/": { title: "2. B", at: "2026-11-22T10:00:00Z" },
    "gpu-training/09-c/": { title: "9. C", at: "2026-11-20T10:00:00Z" },
  };

  assert.deepEqual(lastOpened(entries), { address: "gpu-training/02-b/", title: "2. B" });
  assert.equal(lastOpened({}), null);
});

test("a section's number and title become a sentence", () => {
  assert.equal(goOnWith("5. The device-aware loop"), "Go on with section 5: The device-aware loop");
  assert.equal(goOnWith("6. Check: predict the error"), "Go on with section 6: Check: predict the error");
  assert.equal(goOnWith("Unnumbered"), "Go on with Unnumbered");
});

test("the site's root is found from the module's own address", () => {
  assert.equal(new URL("assets/elements/record.js", ROOT).href, import.meta.resolve("../../docs/assets/elements/record.js"));
});
