// What the float explorer says of a pattern of bits, as lesson_site/floats/words.py says it; a test
// compares both. Pure.

/** @typedef {import("./formats.js").FloatFormat} FloatFormat */

const DIGITS = 6;

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
