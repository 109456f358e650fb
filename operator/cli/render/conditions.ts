/**
 * Conditions of a resource as a table.
 *
 * @module
 */
import type { Condition } from "../../../contracts/resource.ts";
import { ageOf } from "./age.ts";
import type { Paint } from "./paint.ts";
import { renderTable } from "./table.ts";

/**
 * Renders conditions below a heading; nothing when there are none.
 *
 * @param conditions The conditions
 * @param nowMs The present, in ms since the epoch
 * @param paint Colours
 */
export function renderConditions(conditions: readonly Condition[], nowMs: number, paint: Paint): string {
  if (conditions.length === 0) return "";
  const table = renderTable(
    [
      { title: "TYPE", cell: ({ type }) => type },
      { title: "STATUS", cell: ({ status }) => status },
      { title: "REASON", cell: ({ reason }) => reason },
      { title: "SINCE", cell: ({ lastTransitionTime }) => ageOf(lastTransitionTime, nowMs) },
      { title: "MESSAGE", cell: ({ message }) => message },
    ],
    conditions,
    { width: null, paint },
  );
  return `\n${paint("Conditions:", "strong")}\n${indented(table, "  ")}`;
}

/**
 * Puts a text before every line.
 *
 * @param text Lines that end in line feeds
 * @param indent What to put before them
 */
export function indented(text: string, indent: string): string {
  return text.replaceAll(/^(?=.)/gm, indent);
}
