// One race: loads the engines, and takes every size through both, one racer after the other. Pure
// but for the engines, which a test replaces.
//
// For each size both racers are prepared, what they computed is compared, and then each is timed:
// never at the same time, since they would share the processor. A racer that gets too slow is left
// out of larger sizes of that model. Whatever ends the race, what was measured until then stays.

import { READ_SAMPLES, agree, amountOf, groupOf, nameOf, sizeOf, sloped, sound, summary } from "./plan.js";

/** @typedef {import("./plan.js").Task} Task */
/** @typedef {"browser_cpu" | "browser_gpu"} Racer */
/**
 * What an engine says of itself once it is loaded.
 * @typedef {object} Facts
 * @property {Racer} racer
 * @property {string} name for people
 * @property {string | null} adapter what WebGPU calls the device; null for a CPU, or where it has no name
 * @property {boolean} software whether it is a program that stands in for a GPU
 * @property {number} threads
 * @property {"jspi" | "asyncify"} build
 * @property {string} engine
 */
/**
 * @typedef {object} Engine
 * @property {(listener: {onProgress(loaded: number, total: number): void}) => Promise<Facts>} load
 * @property {(task: Task) => Promise<{check: number[], warmupMs: number}>} prepare
 * @property {(steps: number, how: {read: boolean}) => Promise<{ms: number, value: number}>} block
 * @property {() => void} close
 */
/**
 * One racer at one size.
 * @typedef {object} Point
 * @property {Task} task
 * @property {Racer} racer
 * @property {Facts} facts
 * @property {number} amount what one operation works through
 * @property {number[]} samples seconds per operation
 * @property {import("./plan.js").Summary} time
 * @property {number} loops
 * @property {number | null} readS seconds per step with its loss read at once; null if not measured
 * @property {boolean} compared whether the other racer came to the same
 * @property {number} warmupMs
 * @property {number} value what the last operation gave: a loss, or a product's size
 * @property {number} lasted seconds, with all that had to be got ready
 * @property {string} at when it was finished, as a date and time
 */
/** @typedef {{task: Task, racer: Racer, software: boolean, reason: string, refuted: boolean}} Gap why there is no point; refuted: nor may an older one stand */
/** @typedef {{task: Task, number: number, count: number, racer: Racer, doing: "preparing" | "timing" | "reading"}} Step */
/**
 * @typedef {object} Listener
 * @property {(racer: Racer, loaded: number, total: number) => void} onProgress
 * @property {(facts: Facts) => void} onFacts
 * @property {(sentence: string, software: boolean) => void} onAlone the CPU races alone, and why
 * @property {(step: Step) => void} onStep
 * @property {(point: Point) => void} onPoint
 * @property {(gap: Gap) => void} onGap
 * @property {(task: Task) => void} onSize a size is done with
 */
/** @typedef {"finished" | "stopped" | "hidden" | "failed"} End */
/** @typedef {{end: End, sentence: string}} Outcome */
/** @typedef {{task: Task, racer: Racer, check: number[], warmupMs: number, began: number}} Ready */

export const RACERS = /** @type {const} */ (["browser_cpu", "browser_gpu"]);

const HIDDEN =
  "Stopped, since this page was out of sight: a browser slows such a page down. Keep it in sight, and start again; what was measured stays.";
const STOPPED = "Stopped. What was measured so far stays.";
const FINISHED = "Finished: every size is raced.";
const SOFTWARE = "This browser’s WebGPU adapter is a program on the processor and no GPU, so the CPU races alone.";

const REASONS = {
  noise: "too noisy to say; close what else is running, and race again",
  slow: "too slow: a block of it takes more than two seconds",
  memory: "left out, since its memory does not suffice",
  early: "left out, since a smaller one was too much already",
  value: "left out, since its result is no number",
  disagree: "left out, since the two racers did not come to the same result",
};

/** What ends a race before its time. */
class Ended extends Error {
  /** @param {End} end @param {string} sentence */
  constructor(end, sentence) {
    super(sentence);
    this.end = end;
  }
}

export class Race {
  /** @type {Map<Racer, Facts>} */
  #facts = new Map();
  /** @type {Set<string>} racers and what they have grown too slow or too large for */
  #slow = new Set();
  /** @type {(reason: Ended) => void} */
  #give = () => {};
  /** @type {Promise<never>} */
  #ended;
  /** @type {Ended | undefined} */
  #over;

  /**
   * @param {object} options
   * @param {Task[]} options.tasks
   * @param {(racer: Racer) => Engine} options.engineOf
   * @param {Listener} options.listener
   * @param {boolean} [options.software] whether a software adapter races too
   * @param {() => boolean} [options.hidden] whether nobody sees the page
   * @param {() => Date} [options.now]
   */
  constructor({ tasks, engineOf, listener, software = false, hidden = () => false, now = () => new Date() }) {
    this.tasks = tasks;
    this.listener = listener;
    this.software = software;
    this.hidden = hidden;
    this.now = now;
    this.engines = new Map(RACERS.map((racer) => [racer, engineOf(racer)]));
    this.#ended = new Promise((_, reject) => (this.#give = reject));
    this.#ended.catch(() => {}); // anyone who waits hears of it
  }

  /** Race until the last size is done or something ends it. @returns {Promise<Outcome>} */
  async run() {
    try {
      await this.#load();
      for (const [index, task] of this.tasks.entries()) {
        await this.#size(task, index + 1);
        this.listener.onSize(task);
      }
      return { end: "finished", sentence: FINISHED };
    } catch (problem) {
      if (problem instanceof Ended) return { end: problem.end, sentence: problem.message };
      return { end: "failed", sentence: problem instanceof Error ? problem.message : String(problem) };
    } finally {
      for (const engine of this.engines.values()) engine.close();
    }
  }

  /** End the race now, whatever is under way. @param {"stopped" | "hidden"} end */
  stop(end = "stopped") {
    this.#over ??= new Ended(end, end === "hidden" ? HIDDEN : STOPPED);
    this.#give(this.#over);
    for (const engine of this.engines.values()) engine.close();
  }

  /**
   * Wait for an engine, unless the race ends meanwhile or nobody watches.
   * @template Result
   * @param {() => Promise<Result>} ask
   * @returns {Promise<Result>}
   */
  async #ask(ask) {
    if (this.#over) throw this.#over;
    if (this.hidden()) throw new Ended("hidden", HIDDEN);
    const answer = await Promise.race([this.#ended, ask()]);
    if (this.hidden()) throw new Ended("hidden", HIDDEN);
    return answer;
  }

  async #load() {
    for (const racer of RACERS) {
      const engine = this.#engine(racer);
      const onProgress = (/** @type {number} */ loaded, /** @type {number} */ total) =>
        this.listener.onProgress(racer, loaded, total);
      try {
        const facts = await this.#ask(() => engine.load({ onProgress }));
        if (facts.software && !this.software) this.#without(racer, SOFTWARE, true);
        else {
          this.#facts.set(racer, facts);
          this.listener.onFacts(facts);
        }
      } catch (problem) {
        if (racer === "browser_cpu" || problem instanceof Ended || !(problem instanceof Error)) throw problem;
        this.#without(racer, problem.message, false);
      }
    }
  }

  /** @param {Racer} racer */
  #engine(racer) {
    return /** @type {Engine} */ (this.engines.get(racer));
  }

  /** @param {Racer} racer @param {string} sentence @param {boolean} software */
  #without(racer, sentence, software) {
    this.#engine(racer).close();
    this.listener.onAlone(sentence, software);
  }

  /** Both racers at one size. @param {Task} task @param {number} number */
  async #size(task, number) {
    /** @type {Ready[]} */
    const ready = [];
    const step = (/** @type {Racer} */ racer, /** @type {Step["doing"]} */ doing) =>
      this.listener.onStep({ task, number, count: this.tasks.length, racer, doing });
    for (const racer of this.#facts.keys()) {
      if (this.#slow.has(`${racer} ${groupOf(task)}`)) {
        this.#gap(task, racer, REASONS.early);
        continue;
      }
      step(racer, "preparing");
      const began = this.now().getTime();
      const prepared = await this.#within(task, racer, (engine) => engine.prepare(task));
      if (prepared) ready.push({ task, racer, began, ...prepared });
    }
    const [one, other] = ready;
    if (one && other && !agree(one.check, other.check)) {
      for (const { racer } of ready) this.#gap(task, racer, REASONS.disagree, true);
      return;
    }
    for (const each of ready) await this.#time(each, ready.length > 1, (doing) => step(each.racer, doing));
  }

  /**
   * One racer at one size.
   * @param {Ready} ready
   * @param {boolean} compared
   * @param {(doing: "timing" | "reading") => void} step
   */
  async #time(ready, compared, step) {
    const { task, racer, check, warmupMs, began } = ready;
    if (!sound(check)) return this.#gap(task, racer, REASONS.value, true);
    const block = (/** @type {boolean} */ read) => (/** @type {number} */ k) =>
      this.#ask(() => this.#engine(racer).block(k, { read }));
    step("timing");
    const slopes = await this.#within(task, racer, () => sloped(block(false)));
    if (!slopes) return;
    if (slopes.grown) this.#slow.add(`${racer} ${groupOf(task)}`);
    if (slopes.missing) return this.#gap(task, racer, REASONS[slopes.missing]);
    if (!Number.isFinite(slopes.value)) return this.#gap(task, racer, REASONS.value, true);
    let readS = null;
    if (task.kind === "step" && !slopes.grown) {
      step("reading");
      const read = await this.#within(task, racer, () => sloped(block(true), READ_SAMPLES));
      if (read && !read.missing) readS = summary(read.samples).median;
    }
    const at = this.now();
    const { samples, loops, value } = slopes;
    this.listener.onPoint({
      ...{ task, racer, facts: /** @type {Facts} */ (this.#facts.get(racer)), amount: amountOf(task) },
      ...{ samples, loops, time: summary(samples), readS, compared, warmupMs, value },
      ...{ lasted: (at.getTime() - began) / 1000, at: at.toISOString() },
    });
  }

  /**
   * Do something for a size; where the memory does not suffice, this racer grows no further.
   * @template Result
   * @param {Task} task
   * @param {Racer} racer
   * @param {(engine: Engine) => Promise<Result>} work
   */
  async #within(task, racer, work) {
    try {
      return await this.#ask(() => work(this.#engine(racer)));
    } catch (problem) {
      if (!(problem instanceof Error && "kind" in problem && problem.kind === "memory")) throw problem;
      this.#slow.add(`${racer} ${groupOf(task)}`);
      this.#gap(task, racer, REASONS.memory);
      return null;
    }
  }

  /** @param {Task} task @param {Racer} racer @param {string} reason @param {boolean} [refuted] */
  #gap(task, racer, reason, refuted = false) {
    const software = this.#facts.get(racer)?.software ?? false;
    this.listener.onGap({ task, racer, software, reason, refuted });
  }
}

/** Everything that was measured in this visit, and why something was not. */
export class Points {
  /** @type {Map<string, Point>} */
  #points = new Map();
  /** @type {Map<string, Gap>} */
  #gaps = new Map();

  /** @param {Point} point */
  add(point) {
    const key = keyOf(point.task, point.racer, point.facts.software);
    this.#points.set(key, point);
    this.#gaps.delete(key);
  }

  /** An older point stays where a later race could not tell, and goes where it was refuted. @param {Gap} gap */
  miss(gap) {
    const key = keyOf(gap.task, gap.racer, gap.software);
    if (gap.refuted) this.#points.delete(key);
    if (!this.#points.has(key)) this.#gaps.set(key, gap);
  }

  clear() {
    this.#points.clear();
    this.#gaps.clear();
  }

  /** @returns {Point[]} */
  get all() {
    return [...this.#points.values()];
  }

  /** @returns {Gap[]} */
  get gaps() {
    return [...this.#gaps.values()];
  }

  /** What was raced, in the order of its first point. */
  get groups() {
    return [...new Set([...this.all, ...this.gaps].map(({ task }) => groupOf(task)))];
  }

  /** A racer's points of a group, smallest first. @param {string} group @param {Racer} racer @param {boolean} software */
  of(group, racer, software = false) {
    return this.all
      .filter((point) => groupOf(point.task) === group && point.racer === racer && point.facts.software === software)
      .sort((one, other) => sizeOf(one.task) - sizeOf(other.task));
  }
}

/** @param {Task} task @param {Racer} racer @param {boolean} software */
const keyOf = (task, racer, software) => `${nameOf(task)}.${software ? "software" : racer}`;
