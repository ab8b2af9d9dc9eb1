// Who finishes first, and whether a guess holds: plain numbers in, words out. lesson_site/who_first.py
// decides the winner in the same way, and a test compares the two.

/** @typedef {"CPU" | "GPU" | "close"} Winner */

/** What can be guessed: the CPU's time over the GPU's, from and to. */
export const GUESSES = [
  { text: "CPU, more than 10 times as fast", from: 0, to: 0.1 },
  { text: "CPU, 2 to 10 times as fast", from: 0.1, to: 0.5 },
  { text: "CPU, up to twice as fast", from: 0.5, to: 1 },
  { text: "GPU, up to twice as fast", from: 1, to: 2 },
  { text: "GPU, 2 to 10 times as fast", from: 2, to: 10 },
  { text: "GPU, more than 10 times as fast", from: 10, to: Infinity },
];

/** @param {number} cpu seconds @param {number} low the GPU's earliest @param {number} high its latest @returns {Winner} */
export function winner(cpu, low, high) {
  if (high < cpu) return "GPU";
  return low > cpu ? "CPU" : "close";
}

/** Whether a guess is possible within the GPU's window.
 * @param {{from: number, to: number}} guess @param {number} cpu @param {number} low @param {number} high */
export const holds = (guess, cpu, low, high) => guess.from <= cpu / low && cpu / high <= guess.to;

/** The verdict on a guess.
 * @param {{from: number, to: number}} guess @param {number} cpu @param {number} low @param {number} high */
export function verdict(guess, cpu, low, high) {
  const who = winner(cpu, low, high);
  const held = holds(guess, cpu, low, high);
  if (who === "close") return held ? "Too close to call, and your guess is possible." : "Too close to call, but not as clear as you guessed.";
  if (held) return `Right: the ${who} finishes first.`;
  if (who !== (guess.from < 1 ? "CPU" : "GPU")) return `Not this time: the ${who} finishes first.`;
  const less = who === "GPU" ? cpu / low < guess.from : cpu / high > guess.to;
  return `The ${who}, as you said, but by ${less ? "less" : "more"} than you guessed.`;
}

/** How much faster time passes on the screen than on the clock, in words. @param {number} seconds of the slower lane @param {number} shown */
export function pace(seconds, shown) {
  const times = seconds / shown;
  const round = Number(times.toPrecision(1));
  const told = round >= 1 ? round : Number((1 / times).toPrecision(1));
  if (told === 1) return "You watch it at its own pace.";
  return `You watch it ${told.toLocaleString("en")} times as ${round >= 1 ? "fast" : "slowly"} as it runs.`;
}
