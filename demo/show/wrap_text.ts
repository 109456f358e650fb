/**
 * Breaks prose into lines.
 *
 * @module
 */

/**
 * Breaks a text at spaces. A word that is longer than a line stands on a line of its own.
 *
 * @param text Words; line feeds count as spaces
 * @param width Characters of a line, the indent included
 * @param indent Put before each line
 * @returns lines, each ended by a line feed
 */
export function wrapText(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || indent.length + longer.length <= width) {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  if (line !== "") lines.push(line);
  return lines.map((content) => `${indent}${content}\n`).join("");
}
