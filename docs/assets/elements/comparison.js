// The comparison as a text file: the table on the page as Markdown. Pure.

/** @param {string} text */
const inOneLine = (text) => text.replace(/\s+/g, " ").trim();

/** So that no cell becomes two, and no name becomes markup. @param {string} text */
const cell = (text) => inOneLine(text).replace(/[\\|<>*_`[\]]/g, "\\$&");

/** @param {string[]} cells */
const line = (cells) => `| ${cells.map(cell).join(" | ")} |`;

/**
 * @param {string[][]} rows texts of the table's cells, its head first
 * @param {string[]} sources where each column was measured
 */
export function comparison([head = [], ...rows], sources) {
  const rule = `| ${head.map(() => "---").join(" | ")} |`;
  const table = [line(head), rule, ...rows.map(line)];
  const list = sources.map((source) => `- ${cell(source)}`);
  return `# My machine beside others\n\n${table.join("\n")}\n\n${list.join("\n")}\n`;
}
