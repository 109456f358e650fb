import { assertEquals } from "@std/assert";
import { DESIRED_ENTRIES_MAX } from "../../contracts/limits.ts";
import type { PlacementSubject } from "../../contracts/placement.ts";
import {
  type DeploymentFacts,
  type EntryFacts,
  firstGeneration,
  type GenerationFacts,
  type HeldDesired,
  nextGeneration,
  type PlacedDeployment,
  planEntries,
} from "./desired_plan.ts";

const EDGE: PlacementSubject = { groups: ["edge"], labels: { site: "lab" } };

function deployment(name: string, changes: Partial<PlacedDeployment> = {}): PlacedDeployment {
  return {
    uid: `uid-of-${name}`,
    name,
    generation: 1,
    spec: { allowedGroups: ["edge"], targetSelector: {} },
    creationTimestamp: "2026-06-01T00:00:00.000Z",
    entryDigest: `digest of ${name}`,
    ...changes,
  };
}

function facts(deployments: readonly PlacedDeployment[], deleted: readonly string[] = []): DeploymentFacts {
  return {
    deployments,
    named: (name) => deployments.find((one) => one.name === name),
    isDeleted: (name) => deleted.includes(name),
  };
}

function held(entries: Record<string, Partial<EntryFacts>>, generation: GenerationFacts | null = null): HeldDesired {
  return {
    entries: new Map(
      Object.entries(entries).map(([name, changes]) => [
        `uid-of-${name}`,
        { revision: 1, name, digest: `digest of ${name}`, ...changes },
      ]),
    ),
    generation,
  };
}

/** The plan as short text: `+name` over nothing, `~name@revision` over a revision, `-token@revision`. */
function planned(subject: PlacementSubject | null, all: DeploymentFacts, present: HeldDesired): string[] {
  const { puts, deletes } = planEntries(subject, all, present);
  return [
    ...puts.map(({ deployment: { name }, revision }) => revision === null ? `+${name}` : `~${name}@${revision}`),
    ...deletes.map(({ token, revision }) => `-${token}@${revision}`),
  ];
}

Deno.test("a device is told what places it, what has changed, and what does not place it any more", () => {
  const elsewhere = deployment("elsewhere", { spec: { allowedGroups: ["core"], targetSelector: {} } });
  const all = facts([deployment("new"), deployment("same"), deployment("changed", { entryDigest: "x" }), elsewhere]);
  assertEquals(planned(EDGE, all, held({ same: {}, changed: { revision: 7 }, elsewhere: { revision: 9 } })), [
    "+new",
    "~changed@7",
    "-uid-of-elsewhere@9",
  ]);
});

Deno.test("labels and matchExpressions decide as they do for every placed kind", () => {
  const inLab = deployment("lab", {
    spec: { allowedGroups: ["edge"], targetSelector: { matchLabels: { site: "lab" } } },
  });
  const inHall = deployment("hall", {
    spec: { allowedGroups: ["edge"], targetSelector: { matchLabels: { site: "hall" } } },
  });
  const closed = deployment("closed", { spec: { allowedGroups: ["edge"], targetSelector: { matchExpressions: [] } } });
  assertEquals(planned(EDGE, facts([inLab, inHall, closed]), held({ closed: {} })), ["+lab", "-uid-of-closed@1"]);
});

Deno.test("an entry goes when its deployment was deleted, or when another one has its name, and else stays", () => {
  const present = held({ deleted: {}, reused: {}, lost: {}, unreadable: { name: null } });
  const all = facts([deployment("reused", { uid: "another" })], ["deleted"]);
  assertEquals(planned(EDGE, all, present), ["+reused", "-uid-of-deleted@1", "-uid-of-reused@1"]);
  assertEquals(planEntries(EDGE, all, present).unknown, 2);
  // A store that was lost looks as if there were no deployments.
  assertEquals(planned(EDGE, facts([]), held({ web: {}, db: {} })), []);
  assertEquals(planned({ groups: [], labels: {} }, facts([]), held({ web: {} })), []);
});

Deno.test("an entry that cannot be read is written anew where it is wanted, and deleted where it is known not to be", () => {
  const core = deployment("core", { spec: { allowedGroups: ["core"], targetSelector: {} } });
  const present = held({ web: { name: null, digest: "?", revision: 4 }, core: { name: null, digest: "?" } });
  assertEquals(planned(EDGE, facts([deployment("web"), core]), present), ["~web@4", "-uid-of-core@1"]);
});

Deno.test("a device that was deleted loses everything, also what nobody knows", () => {
  assertEquals(planned(null, facts([deployment("web")]), held({ web: {}, unknown: { revision: 3 } })), [
    "-uid-of-web@1",
    "-uid-of-unknown@3",
  ]);
});

for (const count of [DESIRED_ENTRIES_MAX - 1, DESIRED_ENTRIES_MAX, DESIRED_ENTRIES_MAX + 1]) {
  Deno.test(`of ${count} deployments a device gets at most ${DESIRED_ENTRIES_MAX}, the oldest`, () => {
    const all = Array.from(
      { length: count },
      (_, index) => deployment(`d${index}`, { creationTimestamp: new Date((count - index) * 1_000).toISOString() }),
    );
    const plan = planEntries(EDGE, facts(all), held({}));
    assertEquals(plan.puts.length, Math.min(count, DESIRED_ENTRIES_MAX));
    assertEquals(plan.refused, Math.max(0, count - DESIRED_ENTRIES_MAX));
    assertEquals(plan.puts.some(({ deployment: { name } }) => name === "d0"), count <= DESIRED_ENTRIES_MAX);
    // Entries that stay because nobody knows them take their room.
    const full = planEntries(EDGE, facts(all), held({ unknown: {} }));
    assertEquals(full.puts.length, Math.min(count, DESIRED_ENTRIES_MAX - 1));
  });
}

function generation(revision: number, value: GenerationFacts["value"]): GenerationFacts {
  return { revision, value };
}

Deno.test("a generation is right while it counts the entries and was written after each of them", () => {
  const entries = { a: { revision: 3 }, b: { revision: 5 } };
  const right = generation(6, { generation: 100, entries: 2 });
  assertEquals(nextGeneration(held(entries, right), false, 50), null);
  assertEquals(nextGeneration(held(entries, right), true, 50), { generation: 101, entries: 2 });
  // Cut off before the generation: by the count, or by the revision alone where the count is the same.
  assertEquals(nextGeneration(held({ a: {} }, right), false, 50), { generation: 101, entries: 1 });
  assertEquals(nextGeneration(held({ ...entries, b: { revision: 7 } }, right), false, 50), {
    generation: 101,
    entries: 2,
  });
});

Deno.test("a device gets its first generation when it has something to run or to remove, and all of that is known", () => {
  const all = facts([deployment("web")], ["deleted"]);
  const reports = (...uids: [string, string?][]) =>
    new Map(uids.map(([uid, name]) => [uid, name === undefined ? {} : { name }]));
  assertEquals(firstGeneration(held({}), reports(), all), "needless");
  assertEquals(firstGeneration(held({ web: {} }), reports(), all), "due");
  assertEquals(firstGeneration(held({ web: {} }), reports(["uid-of-web", "web"]), all), "due");
  // Out of its group, deleted, or replaced by another one of its name.
  assertEquals(firstGeneration(held({}), reports(["uid-of-web", "web"]), all), "due");
  assertEquals(firstGeneration(held({}), reports(["uid-of-deleted", "deleted"], ["old", "web"]), all), "due");
  // Nobody knows it, or it does not say what it is.
  assertEquals(firstGeneration(held({ web: {} }), reports(["lost", "lost"]), all), "wait");
  assertEquals(firstGeneration(held({}), reports(["uid-of-deleted", "deleted"], ["nameless"]), all), "wait");
});

Deno.test("a generation goes on above what devices have seen", () => {
  assertEquals(nextGeneration(held({}), false, 1_000.5), { generation: 1_000, entries: 0 });
  assertEquals(nextGeneration(held({}, generation(1, null)), false, 2_000), { generation: 2_000, entries: 0 });
  const ahead = generation(1, { generation: 5_000, entries: 3 });
  assertEquals(nextGeneration(held({}, ahead), false, 2_000), { generation: 5_001, entries: 0 });
  assertEquals(nextGeneration(held({}), false, 0), { generation: 1, entries: 0 });
});
