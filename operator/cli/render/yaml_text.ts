/**
 * YAML for people and for `apply`: safe to print, and the same to readers of YAML 1.1 and 1.2.
 *
 * @module
 */
import { Document, Scalar, visit } from "yaml";
import { printable } from "./printable.ts";

/**
 * One YAML document, without separator, ending in a line feed.
 *
 * @param value A JSON value
 */
export function yamlText(value: unknown): string {
  // Quoted where YAML 1.1 would read something else than a text: `yes`, `1:30`, dates.
  const document = new Document(value, { compat: "yaml-1.1", aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      // Only in double quotes can a character be written out.
      if (typeof node.value === "string" && printable(node.value) !== node.value) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escaped(document.toString({ lineWidth: 0 }));
}

/** Such characters stand in double quotes only, where a backslash and `u` mean the same. */
function escaped(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
