import { assertEquals } from "@std/assert";
import { RUN_ID, taskRun } from "../../tests/fakes/task_samples.ts";
import { RunView } from "./run_view.ts";

const OTHER = "8d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("RunView: a name that was made anew is another run, and the one before it is deleted", () => {
  const view = new RunView();
  assertEquals(view.takeEvent({ kind: "put", resource: taskRun() }), [RUN_ID]);
  assertEquals(view.takeEvent({ kind: "put", resource: taskRun({ uid: OTHER }) }), [RUN_ID, OTHER]);
  assertEquals([view.run(RUN_ID), view.isDeleted(RUN_ID), view.run(OTHER)?.metadata.uid], [undefined, true, OTHER]);
});

pure("RunView: who was seen to be deleted is, who has only vanished is not", () => {
  const view = new RunView();
  view.takeEvent({ kind: "put", resource: taskRun() });
  assertEquals(view.takeEvent({ kind: "delete", name: "upgrade", vanished: true }), [RUN_ID]);
  assertEquals([view.run(RUN_ID), view.isDeleted(RUN_ID)], [undefined, false]);
  view.takeEvent({ kind: "put", resource: taskRun() });
  assertEquals(view.takeEvent({ kind: "delete", name: "upgrade" }), [RUN_ID]);
  assertEquals(view.isDeleted(RUN_ID), true);
  view.forget(RUN_ID);
  assertEquals(view.isDeleted(RUN_ID), false);
  assertEquals(view.takeEvent({ kind: "delete", name: "upgrade" }), []);
});

pure("RunView: a run that cannot be read is neither there nor deleted", () => {
  const view = new RunView();
  view.takeEvent({ kind: "put", resource: taskRun() });
  assertEquals(view.takeEvent({ kind: "malformed", name: "upgrade", problem: "x" }), []);
  assertEquals([view.run(RUN_ID), view.isDeleted(RUN_ID), view.hasUnreadable], [undefined, false, true]);
  view.takeEvent({ kind: "put", resource: taskRun() });
  assertEquals([view.hasUnreadable, view.run(RUN_ID) !== undefined], [false, true]);
  assertEquals(view.takeEvent({ kind: "current" }), []);
});
