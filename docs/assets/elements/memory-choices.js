// What the memory table shows for a choice. Every text was written when the site was built, by
// lesson_site/memory_table.py; here they are only looked up.

/**
 * @typedef {{caption: string, cells: string[][], says: {[precision: string]: string}}} Shown
 * @typedef {{[optimizer: string]: {[batch: string]: Shown}}} Choices
 */

// Of the columns float32, autocast and their ratio, those that each choice of precision leaves.
/** @type {{[precision: string]: boolean[]}} */
export const COLUMNS = {
  both: [true, true, true],
  float32: [true, false, false],
  autocast: [false, true, false],
};

/** What can be chosen, in the order of the lists. @param {Choices} choices */
export function offered(choices) {
  const batches = Object.keys(Object.values(choices)[0] ?? {});
  return { precision: Object.keys(COLUMNS), optimizer: Object.keys(choices), batch: batches };
}

/**
 * The texts of one choice, or nothing where there is none.
 * @param {Choices} choices
 * @param {{precision: string, optimizer: string, batch: string}} chosen
 * @returns {{caption: string, cells: string[][], columns: boolean[], says: string} | undefined}
 */
export function shown(choices, { precision, optimizer, batch }) {
  const table = choices[optimizer]?.[batch];
  const columns = COLUMNS[precision];
  const says = table?.says[precision];
  if (!table || !columns || says === undefined) return undefined;
  return { caption: table.caption, cells: table.cells, columns, says };
}
