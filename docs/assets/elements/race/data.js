// What the race trains on: weights, made-up digits and matrices, drawn from a seed, so that both
// racers, and PyTorch in the tests, have the same numbers to the last bit. All arithmetic is that of
// doubles with +, -, *, / and the square root, which every machine rounds alike, and the result is
// stored as float32.

// With this seed, no input of a ReLU comes near zero in 20 SGD steps of the lesson’s model, where it
// could round to the other side: so two devices can be compared closely.
export const SEED = 36;
// How many images there are. Every batch size of the race divides it, so a batch is a part of them.
export const IMAGES = 4096;
const SIDE = 28;
export const PIXELS = SIDE * SIDE;
// What every stream of random numbers adds to the seed; the weights take the seed and those after it.
const STREAMS = { labels: 1001, shifts: 1002, pixels: 1003, left: 1004, scales: 1005 };
// As lesson_code/data.py normalises MNIST.
const PIXEL_MEAN = 0.1307;
const PIXEL_STD = 0.3081;

/** @typedef {{name: string, type: string, shape: (number | string)[]}} Value */
/** @typedef {{images: Float32Array, labels: Int32Array}} Digits */

/**
 * Numbers from 0 to below 1, in steps of 2^-24: the generator Mulberry32, without its lowest bits.
 * @param {number} seed
 * @returns {() => number}
 */
export function randomNumbers(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 8) / 2 ** 24;
  };
}

/** @param {number} seed @param {number} count @param {number} low @param {number} high */
export function uniform(seed, count, low, high) {
  const next = randomNumbers(seed);
  const numbers = new Float32Array(count);
  for (let i = 0; i < count; i += 1) numbers[i] = low + (high - low) * next();
  return numbers;
}

/**
 * The first state of a training step: weights as PyTorch draws them for a linear layer, and zeros
 * for what an optimizer keeps.
 * @param {Value[]} inputs those of the graph, without images and labels
 * @param {number} seed
 * @returns {Float32Array[]}
 */
export function firstState(inputs, seed = SEED) {
  let bound = 0;
  return inputs.map(({ name, shape }, index) => {
    const sizes = shape.map(Number);
    const count = sizes.reduce((product, size) => product * size, 1);
    if (!name.startsWith("fc")) return new Float32Array(count);
    if (name.endsWith(".weight")) bound = 1 / Math.sqrt(sizes[1] ?? 1); // of the bias that follows, too
    return uniform(seed + index, count, -bound, bound);
  });
}

// Digits as on a pocket calculator: the bars from left, top to right, bottom, and which are lit. Even
// when a digit is moved by SHIFT, nothing of it is near the edge.
const BARS = [
  [8, 4, 20, 7],
  [8, 4, 11, 15],
  [17, 4, 20, 15],
  [8, 12, 20, 15],
  [8, 12, 11, 24],
  [17, 12, 20, 24],
  [8, 21, 20, 24],
];
const LIT = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011".split(" ");
const SHIFT = 3;

/** Which pixels of a digit are lit. @param {string} lit */
function shapeOf(lit) {
  const shape = new Uint8Array(PIXELS);
  BARS.forEach(([left = 0, top = 0, right = 0, bottom = 0], bar) => {
    if (lit[bar] === "0") return;
    for (let y = top; y < bottom; y += 1) shape.fill(1, y * SIDE + left, y * SIDE + right);
  });
  return shape;
}

/**
 * Made-up digits, each at a place and with pixels of its own, normalised as the lesson does it.
 * @param {number} count
 * @param {number} seed
 * @returns {Digits}
 */
export function digits(count = IMAGES, seed = SEED) {
  const shapes = LIT.map(shapeOf);
  const label = randomNumbers(seed + STREAMS.labels);
  const shift = randomNumbers(seed + STREAMS.shifts);
  const pixel = randomNumbers(seed + STREAMS.pixels);
  const labels = Int32Array.from({ length: count }, () => Math.floor(10 * label()));
  const images = new Float32Array(count * PIXELS);
  const moved = () => Math.floor((2 * SHIFT + 1) * shift()) - SHIFT;
  labels.forEach((digit, image) => {
    const shape = /** @type {Uint8Array} */ (shapes[digit]);
    const by = moved() + SIDE * moved();
    for (let at = 0; at < PIXELS; at += 1) {
      const grey = shape[at - by] ? 0.5 + 0.5 * pixel() : 0.1 * pixel();
      images[image * PIXELS + at] = (grey - PIXEL_MEAN) / PIXEL_STD;
    }
  });
  return { images, labels };
}

/**
 * Two square matrices, to multiply the first one by the second again and again. The second one is its
 * own inverse, a Hadamard matrix between two scales: so all of it takes part, the products stay as
 * large as they are however many there are, and a product that was left out is noticed.
 * @param {number} n a power of two
 * @param {number} seed
 * @returns {[Float32Array, Float32Array]}
 */
export function matrices(n, seed = SEED) {
  if (n < 1 || n & (n - 1)) throw new RangeError(`no Hadamard matrix of ${n} rows here; take a power of two`);
  const left = uniform(seed + STREAMS.left, n * n, -1, 1);
  const scales = uniform(seed + STREAMS.scales, n, 0.5, 2);
  const right = new Float32Array(n * n);
  const odd = new Uint8Array(n); // whether a number has an odd count of ones
  for (let i = 1; i < n; i += 1) odd[i] = (odd[i >> 1] ?? 0) ^ (i & 1);
  for (let row = 0; row < n; row += 1) {
    const scale = (scales[row] ?? 0) / Math.sqrt(n);
    for (let column = 0; column < n; column += 1) {
      const size = scale / (scales[column] ?? 1);
      right[row * n + column] = odd[row & column] ? -size : size;
    }
  }
  return [left, right];
}

/** @param {Float32Array} numbers */
export function rootMeanSquare(numbers) {
  let sum = 0;
  for (const number of numbers) sum += number * number;
  return Math.sqrt(sum / numbers.length);
}
