// What goes over the socket to a kernel, and the text that comes back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, pack, plainText, unpack } from "../../docs/assets/elements/live/wire.js";

const MESSAGE = {
  channel: "shell",
  header: { msg_id: "1", msg_type: "execute_request", date: "2026-11-22T00:00:00Z" },
  parent_header: {},
  metadata: { née: "ü ✓ 🎓" },
  content: { code: "print('ü')\n", silent: false, nested: [1, null, { a: 2.5 }] },
};

test("a message comes back as it went", () => {
  assert.deepEqual(unpack(pack(MESSAGE)), { ...MESSAGE, buffers: [] });
});

test("buffers come back byte for byte", () => {
  const buffers = [new Uint8Array([0, 255, 128]), new Uint8Array([]), new Uint8Array([7])];
  assert.deepEqual(unpack(pack({ ...MESSAGE, buffers })), { ...MESSAGE, buffers });
});

test("the last offset is the end", () => {
  const packed = pack({ channel: "iopub", header: {}, parent_header: {}, metadata: {}, content: {} });
  const view = new DataView(packed);
  const numbers = Array.from({ length: 7 }, (_, index) => Number(view.getBigUint64(8 * index, true)));
  assert.deepEqual(numbers, [6, 56, 61, 63, 65, 67, 69]);
  assert.equal(new TextDecoder().decode(packed.slice(56)), "iopub{}{}{}{}");
});

for (const [raw, plain] of [
  ["plain\n", "plain\n"],
  ["\x1b[31mred\x1b[0m", "red"],
  ["\x1b[0;31mName\x1b[0m: \x1b[38;5;241m1\x1b[39m", "Name: 1"],
  ["\x1b[2K\x1b[1Aup", "up"],
  ["\x1b]0;title\x07text", "text"],
  ["a[0m stays", "a[0m stays"],
  [undefined, ""],
])
  test(`${JSON.stringify(raw)} reads ${JSON.stringify(plain)}`, () => {
    assert.equal(plainText(raw), plain);
  });

test("a target becomes the lines that run it", () => {
  assert.equal(
    codeOf("mission/worked:print_step"),
    "from lesson_code.mission.worked import print_step\nprint_step()",
  );
});

test("a file whose name begins with a digit is imported by its name", () => {
  assert.equal(
    codeOf("lab/solution/02_amp_training:print_report"),
    'from importlib import import_module\nimport_module("lesson_code.lab.solution.02_amp_training").print_report()',
  );
});

for (const target of ["", "a", "a:b()", "a:b;import os", 'a"/b:c', "a/../b:c", "/a:b", "a:1b", "a b:c", "a:b:c", "a:b\n"])
  test(`${JSON.stringify(target)} is no function of the lesson`, () => {
    assert.equal(codeOf(target), undefined);
  });
