// What a learner typed or chose, read and compared. Pure: texts in, values out.

/** @typedef {"choice" | "number" | "line" | "sentence"} Kind */

const SHORTEST_SENTENCE = 10;

/**
 * A number as people write it: 1200, 1,200, 0.5, 0,5, 1e-4, with any minus sign.
 * @param {string} text
 * @returns {number} NaN if it is none
 */
export function readNumber(text) {
  const plain = text.trim().replace(/[\u2212\u2013]/g, "-").replace(/[\s_'’]/g, "");
  const thousands = /^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(plain);
  const number = thousands ? plain.replaceAll(",", "") : plain.replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(number) ? Number(number) : NaN;
}

/**
 * A prediction ready to be kept, or what the learner still has to do.
 * @param {Kind} kind
 * @param {string} text
 * @returns {{value: number | string} | {problem: string}}
 */
export function readPrediction(kind, text) {
  if (kind === "sentence") {
    const value = text.trim();
    return [...value].length < SHORTEST_SENTENCE
      ? { problem: "Write a sentence first; a short one will do." }
      : { value };
  }
  const value = readNumber(text);
  if (Number.isFinite(value)) return { value };
  if (kind === "number") return { problem: "Type a number first, such as 12 or 0.5." };
  return { problem: kind === "line" ? "Choose a line first." : "Choose one of the answers first." };
}

/**
 * Whether a prediction is right; null for a sentence, which only its writer can judge.
 * @param {Kind} kind
 * @param {number | string} value
 * @param {number} right
 * @param {number} tolerance a share of the right number
 */
export function isRight(kind, value, right, tolerance) {
  if (kind === "sentence") return null;
  return Math.abs(Number(value) - right) <= (tolerance + 1e-9) * Math.abs(right);
}

/** The verdict in words. @param {boolean | null} right @param {boolean} exact */
export function verdict(right, exact) {
  if (right === null) return "Compare your sentence with the answer.";
  if (!right) return "Your prediction and the answer differ.";
  return exact
    ? "Right: your prediction and the answer agree."
    : "Right: your prediction is close enough to the answer.";
}

// What a quiz comes to: outcomes in, sentences out.

/** @typedef {"open" | "agreed" | "missed" | "unjudged"} Outcome */

/** What stands behind a question in the list. @type {{[outcome in Outcome]: string}} */
export const IN_WORDS = {
  open: "not answered yet",
  agreed: "answered, and you had it",
  missed: "answered, worth rereading",
  unjudged: "answered; compare, then say how it went",
};

/**
 * The quiz in two sentences.
 * @param {Outcome[]} outcomes
 */
export function sumUp(outcomes) {
  const count = (/** @type {Outcome} */ wanted) => outcomes.filter((outcome) => outcome === wanted).length;
  const [open, agreed, missed, unjudged] = [count("open"), count("agreed"), count("missed"), count("unjudged")];
  const answered = outcomes.length - open;
  const first = `You have answered ${answered} of ${outcomes.length}, and had ${agreed}.`;
  if (!answered) return `You have answered none of the ${outcomes.length} yet.`;
  if (missed) return `${first} ${missed === 1 ? "One part is" : `${missed} parts are`} worth rereading, marked below.`;
  if (unjudged) return `${first} Compare what you wrote with the answer, and say how it went.`;
  return open ? `${first} Nothing to reread so far.` : `${first} Nothing to reread.`;
}
