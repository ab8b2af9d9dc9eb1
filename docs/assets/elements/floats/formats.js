// Floating-point formats read from their bits, as lesson_code/gpu_training/float_formats.py reads
// them, and what is said of them, as lesson_site/floats/words.py says it; a test compares both. A format
// of up to 16 bits can be read, any one can be rounded to. Pure.

/** @typedef {"zero" | "subnormal" | "normal" | "infinity" | "not a number"} Kind */
/** @typedef {[name: string, exponentBits: number, fractionBits: number, infinity: number]} Layout */

const DIGITS = 6;
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

/** A number in so many digits. @param {number} number @param {number} [digits] */
export function written(number, digits = DIGITS) {
  if (Number.isNaN(number)) return "not a number";
  const sign = number < 0 || Object.is(number, -0) ? "−" : "";
  if (Math.abs(number) === Infinity) return `${sign}infinity`;
  if (number === 0) return `${sign}0`;
  const [mantissa = "", exponent] = Math.abs(number).toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power <= -5 || power >= 7) return `${sign}${short(mantissa)}e${power}`;
  const places = mantissa.replace(".", "");
  const padded = "0".repeat(Math.max(0, -power)) + places + "0".repeat(Math.max(0, power + 1 - digits));
  const whole = 1 + Math.max(0, power);
  return sign + short(`${padded.slice(0, whole)}.${padded.slice(whole)}`);
}

/** Without the zeros at the end. @param {string} decimals */
const short = (decimals) => decimals.replace(/0+$/, "").replace(/\.$/, "");

/** @param {number} power */
export function powerOfTwo(power) {
  return "2" + [...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
}

/** How the bits become the number. @param {FloatFormat} kind @param {number} pattern */
export function reading(kind, pattern) {
  const { negative, code, fraction, power } = kind.parts(pattern);
  const sign = negative ? "−" : "";
  const share = `${fraction}/${kind.whole}`;
  switch (kind.kind(pattern)) {
    case "zero":
      return "All exponent and fraction bits are 0, and that is zero.";
    case "infinity":
      return "All exponent bits are 1 and no fraction bit is, and that is infinity.";
    case "not a number":
      return "All exponent bits are 1 and so is a fraction bit, and that is not a number.";
    case "subnormal":
      return (
        `${sign}${share} × ${powerOfTwo(power)}, a subnormal number: no exponent ` +
        "bit is 1, so there is no leading 1 before the fraction, and fewer digits are left."
      );
    default:
      return (
        `${sign}(1 + ${share}) × ${powerOfTwo(power)}, a normal number: the ` +
        `exponent bits say ${code}, and ${kind.bias} is taken off.`
      );
  }
}

/** Its neighbours. @param {FloatFormat} kind @param {number} pattern */
export function beside(kind, pattern) {
  const [below, above] = kind.neighbours(pattern);
  if (Number.isNaN(below) && Number.isNaN(above)) return "";
  if (Number.isNaN(below)) return `The next number above is ${written(above)}; below there is none.`;
  if (Number.isNaN(above)) return `The next number below is ${written(below)}; above there is none.`;
  const gap = kind.parts(pattern).power - kind.fractionBits;
  return (
    `Its neighbours are ${written(below)} and ${written(above)}. Away from zero, the next one is ` +
    `${written(2 ** gap)} (${powerOfTwo(gap)}) away.`
  );
}

/** What a format makes of a number that somebody typed. @param {FloatFormat} kind @param {number} number */
export function becomes(kind, number) {
  const kept = kind.kept(number);
  const typed = written(number);
  if (kept === number) return `${typed} is a number of ${kind.name}.`;
  if (kept === 0) return `${typed} becomes 0: ${kind.name} rounds sizes up to ${written(kind.lost)} to zero.`;
  if (kind.overflows(number)) {
    const end = kind.hasInfinity ? "infinity" : written(kind.largest);
    return `${typed} becomes ${end}, as does everything ${kind.hasInfinity ? "from" : "above"} ${written(kind.overflow)}.`;
  }
  const off = (Math.abs(kept - number) / Math.abs(number)) * 100;
  return `${typed} becomes ${written(kept)}, which is off by ${written(off, 2)} %.`;
}
