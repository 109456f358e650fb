import { FakeServiceManager } from "../fakes/fake_service_manager.ts";
import { createProcessSubject } from "../fakes/process_service_subject.ts";
import type { ServiceProgram } from "../fakes/service_program.ts";
import { type SubjectFactory, testServiceManager } from "./service_manager.ts";

const createFake: SubjectFactory = ({ startTimeoutMs, restartDelayMs }) => {
  let program: ServiceProgram = { does: "ready" };
  const manager = new FakeServiceManager({ program: () => program, startTimeoutMs, restartDelayMs });
  return Promise.resolve({
    manager,
    use: (next) => {
      program = next;
      return Promise.resolve();
    },
    crash: () => Promise.resolve(manager.crash()),
    starts: () => Promise.resolve(manager.starts),
    living: () => Promise.resolve(manager.running === null ? 0 : 1),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
};

testServiceManager("FakeServiceManager", createFake);
testServiceManager("process adapter", createProcessSubject);
