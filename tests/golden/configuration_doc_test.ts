/**
 * The pages on configuration have every member that the programs take, and no other.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { agentConfig } from "../../agent/config.ts";
import { type Decoder, structureOf } from "../../contracts/codec.ts";
import { FLEET_SIZE_DEFAULT, FLEET_SIZE_MAX, NATS_SERVERS_MAX } from "../../contracts/limits.ts";
import { operatorConfig } from "../../operator/config.ts";
import { updaterConfig } from "../../updater/config.ts";

const DOCS = new URL("../../docs/", import.meta.url);

function members(decoder: Decoder<unknown>, path = ""): string[] {
  const structure = structureOf(decoder);
  // What may be lowered is for tests; its names are in the code.
  if (structure?.kind !== "object" || path === "bounds") return [path];
  return Object.entries(structure.members).flatMap(([name, member]) =>
    members(member, path === "" ? name : `${path}.${name}`)
  );
}

/** Names in the first column of the table behind a text. */
function documented(page: string, before: string): string[] {
  const start = page.indexOf(before);
  assert(start >= 0, before);
  const table = /(?:^\|.*\n)+/m.exec(page.slice(start))?.[0] ?? "";
  return table.split("\n").slice(2).flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].flatMap(([, name]) => name ?? [])
  );
}

for (
  const [file, before, decoder] of [
    ["configuration.md", "<!-- settings: updaterConfig -->", updaterConfig],
    ["configuration.md", "<!-- settings: operatorConfig -->", operatorConfig],
    ["agent.md", "## Configuration", agentConfig],
  ] as const
) {
  Deno.test(`docs/${file} has every setting behind "${before}"`, async () => {
    const page = await Deno.readTextFile(new URL(file, DOCS));
    assertEquals(documented(page, before).sort(), members(decoder).sort());
  });
}

Deno.test("docs/configuration.md has the limits of its settings", async () => {
  const page = await Deno.readTextFile(new URL("configuration.md", DOCS));
  const shown = (count: number) => count.toLocaleString("en-US");
  assert(page.includes(`1 to ${NATS_SERVERS_MAX} URLs`));
  assert(page.includes(`1 to ${shown(FLEET_SIZE_MAX)}: devices`) && page.includes(`| ${shown(FLEET_SIZE_DEFAULT)} |`));
});
