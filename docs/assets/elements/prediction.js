// What a learner typed or chose, read and compared. Pure: texts in, values out.

/** @typedef {"choice" | "number" | "line" | "match" | "place" | "sentence"} Kind */

const SHORTEST_SENTENCE = 10;

/**
 * A number as people write it: 1200, 1,200, 0.5, 0,5, 1e-4, with any minus sign; 75 % is 75.
 * @param {string} text
 * @returns {number} NaN if it is none
 */
export function readNumber(text) {
  const plain = text.trim().replace(/[\u2212\u2013]/g, "-").replace(/[\s_'’]|%$/g, "");
  const thousands = /^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(plain);
  const number = thousands ? plain.replaceAll(",", "") : plain.replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(number) ? Number(number) : NaN;
}

/**
 * A prediction ready to be kept, or what the learner still has to do.
 * @param {Kind} kind
 * @param {string} text
 * @param {string | null} within the least and the most that a number may be, as in “0 100”
 * @returns {{value: number | string} | {problem: string}}
 */
export function readPrediction(kind, text, within = null) {
  if (kind === "sentence") {
    const value = text.trim();
    return [...value].length < SHORTEST_SENTENCE
      ? { problem: "Write a sentence first; a short one will do." }
      : { value };
  }
  if (kind === "match") return text ? { value: text } : { problem: "Choose one for each first." };
  if (kind === "place") {
    return text ? { value: text } : { problem: "Place every line first: choose one, then press a gap." };
  }
  const value = readNumber(text);
  const [least = -Infinity, most = Infinity] = within?.split(" ").map(Number) ?? [];
  if (value < least || value > most) return { problem: `Type a number from ${least} to ${most}.` };
  if (Number.isFinite(value)) return { value };
  if (kind === "number") return { problem: "Type a number first, such as 12 or 0.5." };
  return { problem: kind === "line" ? "Choose a line first." : "Choose one of the answers first." };
}

/**
 * Which of the placed lines are in a gap where they may be.
 * @param {string} value a gap for each line, as in “0 1 7”
 * @param {string} right the gaps that are right for each line, as JSON
 * @returns {boolean[]}
 */
export function rightlyPlaced(value, right) {
  const gaps = value.split(" ").map(Number);
  return /** @type {number[][]} */ (JSON.parse(right)).map((fitting, line) => fitting.includes(gaps[line] ?? -1));
}

/**
 * Which of the rows are matched with what they are.
 * @param {string} value the number of an option for each row, as in “1 2 1”
 * @param {string} right
 * @returns {boolean[]}
 */
export function rightlyMatched(value, right) {
  const chosen = value.split(" ");
  return right.split(" ").map((option, row) => option === chosen[row]);
}

/**
 * Whether a prediction is right; null for a sentence, which only its writer can judge.
 * @param {Kind} kind
 * @param {number | string} value
 * @param {string} right
 * @param {number} tolerance a share of the right number
 */
export function isRight(kind, value, right, tolerance) {
  if (kind === "sentence") return null;
  if (kind === "match") return rightlyMatched(String(value), right).every(Boolean);
  if (kind === "place") return rightlyPlaced(String(value), right).every(Boolean);
  const number = Number(right);
  return Math.abs(Number(value) - number) <= (tolerance + 1e-9) * Math.abs(number);
}

/** The verdict in words. @param {Kind} kind @param {boolean | null} right @param {boolean} exact */
export function verdict(kind, right, exact) {
  if (right === null) return "Compare with the answer, and tick what your sentence says too.";
  if (right) return exact ? "Right." : "Right: close enough.";
  return { number: "Not quite.", match: "Not all of them.", place: "Not all of them." }[String(kind)] ?? "Not this one.";
}

/**
 * Whether a reply is for what was predicted.
 * @param {string} to choices, lines or numbers, separated by spaces; 70:95 is a range
 * @param {number} value
 */
export function repliesTo(to, value) {
  return to.split(" ").some((told) => {
    const [least = NaN, most = least] = told.split(":").map(Number);
    return least <= value && value <= most;
  });
}

// What a quiz comes to: outcomes in, sentences out.

/** @typedef {"open" | "agreed" | "missed" | "unjudged"} Outcome */

/** What is behind a question in the list. @type {{[outcome in Outcome]: string}} */
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
