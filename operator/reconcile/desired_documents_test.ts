import { assert, assertEquals } from "@std/assert";
import { DEPLOYMENT_ERROR_KEPT_MAX_CHARS, DOCUMENT_PROBLEM_MAX_CHARS } from "../../contracts/limits.ts";
import type { BusEntry } from "../../lib/bus/port.ts";
import { readEntry, readGeneration, readReport } from "./desired_documents.ts";
import { Interner } from "./interner.ts";

const UID = "5d0c2b0e-6c2e-4a39-8f51-0d3a4b6f7a21";
const ENTRY = { schema: 1, deploymentId: UID, name: "web", generation: 3, podmanV0: { containers: [] } };
const REPORT = {
  schema: 1,
  deviceId: "d1",
  deploymentId: UID,
  name: "web",
  generation: 3,
  phase: "failed",
  reason: "ImageUnavailable",
  error: "app: no image",
  containers: [],
  since: "2026-06-01T00:00:00.000Z",
  updatedAt: "2026-06-01T00:00:00.000Z",
};

function entry(document: unknown, revision = 7): BusEntry {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  return { key: `d1.${UID}`, value: new TextEncoder().encode(text), revision, receivedAtMs: 1_000, deleted: false };
}

Deno.test("an entry is known by its name, its generation and its bytes", () => {
  const interner = new Interner();
  const { held, problem } = readEntry(entry(ENTRY), UID, interner);
  assertEquals([held.name, held.generation, held.revision, problem], ["web", 3, 7, undefined]);
  const same = readEntry(entry(ENTRY, 8), UID, interner).held;
  assertEquals([same.digest, same.revision], [held.digest, 8]);
  assert(readEntry(entry({ ...ENTRY, podmanV0: {} }), UID, interner).held.digest !== held.digest);
});

Deno.test("an entry that cannot be read is kept with its problem, which is told each time", () => {
  const interner = new Interner();
  for (const document of ["{", { ...ENTRY, deploymentId: "another" }, { ...ENTRY, name: "A B" }]) {
    for (let time = 0; time < 2; time++) {
      const { held, problem } = readEntry(entry(document), UID, interner);
      assertEquals([held.name, held.generation], [null, 0]);
      assert(problem !== undefined && problem.length <= DOCUMENT_PROBLEM_MAX_CHARS);
    }
  }
  const elsewhere = readEntry(entry(ENTRY), "5d0c2b0e-6c2e-4a39-8f51-0d3a4b6f7a22", interner);
  assertEquals(elsewhere.problem, "deploymentId: is not the one of the key");
});

Deno.test("a generation that cannot be read counts nothing", () => {
  const right = { schema: 1, generation: 5, entries: 2, updatedAt: "2026-06-01T00:00:00.000Z" };
  assertEquals(readGeneration(entry(right)), { held: { revision: 7, value: { generation: 5, entries: 2 } } });
  const { held, problem } = readGeneration(entry({ ...right, entries: -1 }));
  assertEquals([held, problem?.split(":")[0]], [{ revision: 7, value: null }, "entries"]);
});

Deno.test("a report that cannot be read says that it is pending", () => {
  const interner = new Interner();
  assertEquals(readReport(entry(REPORT), "d1", UID, interner).held, {
    revision: 7,
    receivedAtMs: 1_000,
    phase: "failed",
    name: "web",
    generation: 3,
    error: "app: no image",
  });
  const { error: _error, ...silent } = REPORT;
  assertEquals(readReport(entry(silent), "d1", UID, interner).held.error, "ImageUnavailable");
  assertEquals(readReport(entry({ ...REPORT, phase: "ready" }), "d1", UID, interner).held.error, undefined);
  for (const document of ["[]", { ...REPORT, deviceId: "d2" }, { ...REPORT, phase: "fine" }]) {
    const { held, problem } = readReport(entry(document), "d1", UID, interner);
    assertEquals(held, { revision: 7, receivedAtMs: 1_000, phase: "pending" });
    assert(problem !== undefined);
  }
});

for (const length of [-1, 0, 1].map((more) => DEPLOYMENT_ERROR_KEPT_MAX_CHARS + more)) {
  Deno.test(`of an error of ${length} characters at most ${DEPLOYMENT_ERROR_KEPT_MAX_CHARS} are kept`, () => {
    const { held } = readReport(entry({ ...REPORT, error: "x".repeat(length) }), "d1", UID, new Interner());
    assertEquals(held.error?.length, Math.min(length, DEPLOYMENT_ERROR_KEPT_MAX_CHARS));
    assertEquals(held.error?.endsWith("…"), length > DEPLOYMENT_ERROR_KEPT_MAX_CHARS);
  });
}
