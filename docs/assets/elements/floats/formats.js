// Floating-point formats read from their bits, as lesson_code/gpu_training/float_formats.py reads
// them; a test compares both. A format of up to 16 bits can be read, any one can be rounded to. Pure.

/** @typedef {"zero" | "subnormal" | "normal" | "infinity" | "not a number"} Kind */
/** @typedef {[name: string, exponentBits: number, fractionBits: number, infinity: number]} Layout */

const NUMBER = new DataView(new ArrayBuffer(8));

/** The exponent of two at or below a size above zero. @param {number} size */
export function powerOf(size) {
  NUMBER.setFloat64(0, size);
  return (NUMBER.getUint16(0) >> 4) - 1023; // no format here reaches double's subnormal numbers
}

export class FloatFormat {
  /** @param {Layout} layout */
  constructor([name, exponentBits, fractionBits, infinity]) {
    this.name = name;
    this.exponentBits = exponentBits;
    this.fractionBits = fractionBits;
    this.hasInfinity = Boolean(infinity);
    this.bits = 1 + exponentBits + fractionBits;
    this.bias = 2 ** (exponentBits - 1) - 1;
    this.whole = 2 ** fractionBits; // the fraction's codes
    this.codes = 2 ** exponentBits; // the exponent's codes
    this.smallestNormal = 2 ** (1 - this.bias);
    this.smallest = this.smallestNormal / this.whole;
    this.lost = this.smallest / 2;
    const top = this.codes - 1 - (infinity ? 1 : 0);
    const fraction = this.whole - (infinity ? 1 : 2);
    this.largest = (this.whole + fraction) * 2 ** (top - this.bias - fractionBits);
    this.overflow = this.largest + this.spacing(this.largest) / 2;
  }

  /** How far apart the numbers are, from one on. @param {number} number */
  spacing(number) {
    const size = Math.abs(number);
    return 2 ** (powerOf(Math.max(size, this.smallestNormal)) - this.fractionBits);
  }

  /** Whether a number is too large. @param {number} number */
  overflows(number) {
    const size = Math.abs(number);
    return this.hasInfinity ? size >= this.overflow : size > this.overflow;
  }

  /** @param {number} pattern */
  parts(pattern) {
    const size = pattern % (this.codes * this.whole);
    const code = Math.floor(size / this.whole);
    const fraction = size % this.whole;
    const power = Math.max(code, 1) - this.bias;
    return { negative: pattern !== size, code, fraction, power };
  }

  /** @param {number} pattern @returns {Kind} */
  kind(pattern) {
    const { code, fraction } = this.parts(pattern);
    if (!code) return fraction ? "subnormal" : "zero";
    if (code < this.codes - 1) return "normal";
    if (this.hasInfinity) return fraction ? "not a number" : "infinity";
    return fraction === this.whole - 1 ? "not a number" : "normal";
  }

  /** The number that a pattern means. @param {number} pattern */
  value(pattern) {
    const { negative, code, fraction, power } = this.parts(pattern);
    const kind = this.kind(pattern);
    if (kind === "not a number") return NaN;
    const size = kind === "infinity" ? Infinity : ((code ? this.whole : 0) + fraction) * 2 ** (power - this.fractionBits);
    return negative ? -size : size;
  }

  /** What the format makes of a number. @param {number} number */
  kept(number) {
    if (Number.isNaN(number)) return number;
    let size = Math.abs(number);
    if (this.overflows(size)) size = this.hasInfinity ? Infinity : this.largest;
    else {
      const step = this.spacing(size);
      size = even(size / step) * step;
    }
    return number < 0 || Object.is(number, -0) ? -size : size;
  }

  /** The bits of what the format makes of a number. @param {number} number */
  pattern(number) {
    const top = (this.codes - 1) * this.whole;
    if (Number.isNaN(number)) return top + this.whole - 1;
    const kept = this.kept(number);
    const sign = kept < 0 || Object.is(kept, -0) ? this.codes * this.whole : 0;
    const size = Math.abs(kept);
    if (size === Infinity) return sign + top;
    if (size < this.smallestNormal) return sign + size / this.smallest;
    return sign + (powerOf(size) + this.bias - 1) * this.whole + size / this.spacing(size);
  }

  /** The next numbers below and above, NaN where there is none. @param {number} pattern @returns {[number, number]} */
  neighbours(pattern) {
    return [this.#next(pattern, -1), this.#next(pattern, 1)];
  }

  /** @param {number} pattern @param {number} by */
  #next(pattern, by) {
    const number = this.value(pattern);
    if (Number.isNaN(number) || number === by * Infinity) return NaN;
    if (number === 0) return by * this.smallest;
    return this.value(pattern + (number > 0 === by > 0 ? 1 : -1));
  }
}

/** The nearest whole number, on a tie the even one. @param {number} number */
function even(number) {
  const floor = Math.floor(number);
  const rest = number - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2) ? floor + 1 : floor;
}
