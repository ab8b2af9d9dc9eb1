// What goes over the socket to a kernel, and the text that comes back. Pure, and tested in Node.

/** The form of the messages, as Jupyter calls it. */
export const PROTOCOL = "v1.kernel.websocket.jupyter.org";

/**
 * @typedef {{[key: string]: unknown}} Json
 * @typedef {{channel: string, header: Json, parent_header: Json, metadata: Json, content: Json, buffers?: Uint8Array[]}} Message
 */

const JSON_PARTS = /** @type {const} */ (["header", "parent_header", "metadata", "content"]);
const OFFSET_BYTES = 8;

/** A message as bytes: how many offsets, each part's offset and the end's, the parts. @param {Message} message */
export function pack(message) {
  const encoder = new TextEncoder();
  const parts = [
    encoder.encode(message.channel),
    ...JSON_PARTS.map((name) => encoder.encode(JSON.stringify(message[name]))),
    ...(message.buffers ?? []),
  ];
  let at = OFFSET_BYTES * (parts.length + 2);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, at));
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(parts.length + 1), true);
  parts.forEach((part, index) => {
    view.setBigUint64(OFFSET_BYTES * (index + 1), BigInt(at), true);
    bytes.set(part, at);
    at += part.length;
  });
  view.setBigUint64(OFFSET_BYTES * (parts.length + 1), BigInt(at), true);
  return bytes.buffer;
}

/** The message in such bytes. @param {ArrayBuffer} data @returns {Message} */
export function unpack(data) {
  const view = new DataView(data);
  const count = Number(view.getBigUint64(0, true));
  const offsets = Array.from({ length: count }, (_, index) =>
    Number(view.getBigUint64(OFFSET_BYTES * (index + 1), true)),
  );
  const parts = offsets.slice(1).map((end, index) => new Uint8Array(data, offsets[index], end - (offsets[index] ?? 0)));
  const [channel, header, parent_header, metadata, content, ...buffers] = parts;
  const text = (/** @type {Uint8Array | undefined} */ part) => new TextDecoder().decode(part);
  const json = (/** @type {Uint8Array | undefined} */ part) => /** @type {Json} */ (JSON.parse(text(part)));
  return {
    channel: text(channel),
    header: json(header),
    parent_header: json(parent_header),
    metadata: json(metadata),
    content: json(content),
    buffers,
  };
}

// Colours and cursor movements of terminals, and the titles that some programs give a window.
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))/g;

/** Text without a terminal's codes. @param {unknown} text */
export function plainText(text) {
  return String(text ?? "").replace(ANSI, "");
}

const TARGET = /^(?<path>\w+(?:\/\w+)*):(?<name>[a-z_]\w*)$/i;

/** The code that prints a recorded output, or undefined if the target is none. @param {string} target */
export function codeOf(target) {
  const { path, name } = TARGET.exec(target)?.groups ?? {};
  if (!path || !name) return undefined;
  const module = `lesson_code.${path.replaceAll("/", ".")}`;
  // A file whose name begins with a digit can't be in an import.
  if (/\.\d/.test(module)) return `from importlib import import_module\nimport_module("${module}").${name}()`;
  return `from ${module} import ${name}\n${name}()`;
}
