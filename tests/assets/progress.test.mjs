// Progress: which pages are on the way, and where the home page sends the learner on.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ROOT, visitOf, whereTheyWere } from "../../docs/assets/elements/record.js";

const LOOP = { address: "gpu-training/device-aware-loop/", title: "The device-aware loop" };

for (const root of ["http://127.0.0.1:8000/", "https://example.org/some/course/"]) {
  for (const [path, heading, expected] of /** @type {const} */ ([
    ["gpu-training/device-aware-loop/", "5. The device-aware loop", LOOP],
    ["gpu-training/device-aware-loop/#analogy", "12. The device-aware loop", LOOP],
    ["gpu-training/device-aware-loop/?q=loop", "5. The device-aware loop", LOOP],
    ["", "1. Home", null],
    ["gpu-training/", "GPU Training", { address: "gpu-training/", title: "GPU Training" }],
    ["gpu-training/whole-lesson/", "GPU Training: the whole lesson", null],
    ["notebooks/setup/", "1. Setup", { address: "notebooks/setup/", title: "Setup" }],
    ["benchmarks/results/amp/", "Mixed precision", { address: "benchmarks/results/amp/", title: "Mixed precision" }],
    ["get-a-gpu/", "Where do I get a GPU?", null],
    ["lab/", "", null],
    ["lab/../x/", "X", null],
  ]))
    test(`below ${root} the page ${path || "home"} ${expected ? "is" : "is not"} on the way`, () => {
      assert.deepEqual(visitOf(root + path, root, heading), expected);
    });
}

test("a page of another site is not on the way", () => {
  assert.equal(visitOf("https://example.org/gpu-training/x/", "https://example.org/course/", "1. X"), null);
});

test("the page opened last is where to go on, without the number that it had then", () => {
  const entries = {
    "gpu-training/a/": { title: "A", at: "2026-11-21T10:00:00Z" },
    "gpu-training/b/": { title: "2. B", at: "2026-11-22T10:00:00Z" },
    "gpu-training/c/": { title: "C", at: "2026-11-20T10:00:00Z" },
  };

  assert.deepEqual(whereTheyWere(entries), { last: { address: "gpu-training/b/", title: "B" }, furthest: null });
  assert.equal(whereTheyWere({}), null);
});

test("anyone who went back to a page is led to its heading, and to the furthest page of the same track", () => {
  const entries = {
    "gpu-training/a/": { title: "A", at: "2026-11-22T10:00:00Z", place: 1, heading: "half" },
    "gpu-training/c/": { title: "C", at: "2026-11-20T10:00:00Z", place: 3, heading: "end" },
    "gpu-training/b/": { title: "B", at: "2026-11-21T10:00:00Z", place: 2, heading: "" },
    "lab/d/": { title: "D", at: "2026-11-21T11:00:00Z", place: 9 },
  };

  assert.deepEqual(whereTheyWere(entries), {
    last: { address: "gpu-training/a/#half", title: "A" },
    furthest: { address: "gpu-training/c/#end", title: "C" },
  });
});

test("the site's root is found from the module's own address", () => {
  assert.equal(new URL("assets/elements/record.js", ROOT).href, import.meta.resolve("../../docs/assets/elements/record.js"));
});
