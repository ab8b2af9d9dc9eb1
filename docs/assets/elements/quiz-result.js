// What a quiz comes to. Pure: outcomes in, sentences out.

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
