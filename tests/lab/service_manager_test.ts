import { testServiceManager } from "../conformance/service_manager.ts";
import { LAB_SYSTEMS } from "./lab_image.ts";
import { labProblem } from "./lab_machine.ts";
import { createSystemdSubject, SharedDevice } from "./systemd_subject.ts";

for (const system of LAB_SYSTEMS) {
  const problem = labProblem(system);
  if (problem !== undefined) {
    Deno.test({ name: `systemd adapter on ${system}: skipped, ${problem}`, ignore: true, fn: () => {} });
    continue;
  }
  const shared = new SharedDevice(system);
  testServiceManager(
    `systemd adapter on ${system}`,
    async (bounds) => createSystemdSubject(await shared.get(), bounds),
    { sharesDevice: true },
  );
  Deno.test.afterAll(() => shared[Symbol.asyncDispose]());
}
