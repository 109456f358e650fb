/**
 * Programs of both forms, and of another architecture, under systemd.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import type { Architecture, BinaryForm } from "../../../contracts/formats.ts";
import { AGENT, type LabFleet } from "../lab_fleet.ts";
import { assertEnd, assertSound, type Scenario } from "../scenario.ts";

const MIB = 1_048_576;
const FOREIGN: Architecture = Deno.build.arch === "x86_64" ? "aarch64" : "x86_64";

/** The device runs an agent of a version and a form, and has told so. */
async function assertForm(lab: LabFleet, version: string, form: BinaryForm): Promise<void> {
  await assertSound(lab, version);
  assertMatch(await lab.document(BUCKETS.deviceInfo), new RegExp(`"form":"${form}"`));
  assertMatch(await lab.device.sh("fleet-agent --version"), new RegExp(`^fleet-agent ${version} .*${form}\\)$`));
}

const compiledUpgrade: Scenario = {
  name: "compiled-good-upgrade",
  title: "a device with compiled programs takes good compiled releases, and takes a bad one back",
  options: { form: "compiled" },
  async run(lab, note) {
    await assertForm(lab, "1.0.0", "compiled");
    assertMatch(await lab.device.sh("fleet-updater --version"), /compiled\)$/);
    const artifact = await lab.publish({ version: "2.0.0", form: "compiled" });
    note("agent_artifact_mib", Math.round(artifact.sizeBytes / MIB));
    await assertEnd(lab, await lab.upgrade("2.0.0", artifact), { version: "2.0.0", phase: "complete" });
    await assertForm(lab, "2.0.0", "compiled");
    await lab.behave({ "2.1.0": { exitCode: 1 } });
    await assertEnd(lab, await lab.release({ version: "2.1.0", form: "compiled" }), {
      version: "2.0.0",
      phase: "failed",
      reason: "ExitedBeforeReady",
    });
    await assertEnd(lab, await lab.release({ version: "5.1.2", form: "compiled" }), {
      version: "5.1.2",
      phase: "complete",
    });
    await lab.device.shutDown("reboot");
    await lab.device.boot();
    await assertForm(lab, "5.1.2", "compiled");
  },
};

const formSwitch: Scenario = {
  name: "form-switch",
  title: "from the script form to the compiled one and back, by attempts, by rollbacks and by install.sh",
  async run(lab) {
    await assertForm(lab, "1.0.0", "script");
    await assertEnd(lab, await lab.release({ version: "2.0.0", form: "compiled" }), {
      version: "2.0.0",
      phase: "complete",
    });
    await assertForm(lab, "2.0.0", "compiled");
    // A rollback from a script to a compiled program, and the other way round.
    await lab.behave({ "2.1.0": { exitCode: 1 }, "3.1.0": { exitCode: 1 } });
    const rolledBack = { phase: "failed", reason: "ExitedBeforeReady" } as const;
    await assertEnd(lab, await lab.release({ version: "2.1.0" }), { version: "2.0.0", ...rolledBack });
    await assertForm(lab, "2.0.0", "compiled");
    await assertEnd(lab, await lab.release({ version: "3.0.0" }), { version: "3.0.0", phase: "complete" });
    await assertForm(lab, "3.0.0", "script");
    await assertEnd(lab, await lab.release({ version: "3.1.0", form: "compiled" }), {
      version: "3.0.0",
      ...rolledBack,
    });
    await assertForm(lab, "3.0.0", "script");
    // A person does the same, and the updater goes with it.
    for (const [version, form] of [["4.0.0", "compiled"], ["5.0.0", "script"]] as const) {
      await lab.makeRelease({ version, form });
      const { code, stdout, stderr } = await lab.installAgain("--switch-agent", { version, form });
      assertEquals(code, 0, `${stdout}${stderr}`);
      await assertForm(lab, version, form);
      assertMatch(await lab.device.sh("fleet-updater --version"), new RegExp(`${version} .*${form}\\)$`));
    }
    await assertEnd(lab, await lab.release({ version: "6.0.0", form: "compiled" }), {
      version: "6.0.0",
      phase: "complete",
    });
    await assertForm(lab, "6.0.0", "compiled");
  },
};

const wrongArchitecture: Scenario = {
  name: "wrong-architecture",
  title: "an attempt for another architecture, and a program of one, fail before the running agent is touched",
  async run(lab) {
    const pid = await lab.device.property(AGENT, "MainPID");
    const own = await lab.publish({ version: "2.0.0" });
    const foreign = await lab.publish({ version: "2.1.0", form: "compiled", arch: FOREIGN });
    // A script that the kernel runs, and that says of itself that it is for another one.
    const prelude = `Object.defineProperty(Deno, "build", { value: { ...Deno.build, arch: "${FOREIGN}" } });`;
    const mislabelled = await lab.publish({ version: "2.2.0", prelude });
    const stories = [
      { failureClass: "policy", reason: "WrongArchitecture", send: () => lab.upgrade("2.0.0", own, { arch: FOREIGN }) },
      { failureClass: "version", reason: "NotExecutable", send: () => lab.upgrade("2.1.0", foreign) },
      { failureClass: "version", reason: "ArchMismatch", send: () => lab.upgrade("2.2.0", mislabelled) },
    ];
    for (const { failureClass, reason, send } of stories) {
      const status = await lab.ended(await send());
      assertEquals([status.phase, status.failureClass, status.reason], ["failed", failureClass, reason], status.error);
      assertEquals(await lab.device.property(AGENT, "MainPID"), pid, reason);
      await assertSound(lab, "1.0.0");
    }
    await assertEnd(lab, await lab.upgrade("2.0.0", own), { version: "2.0.0", phase: "complete" });
  },
};

/** Forms and architectures. */
export const FORMS: readonly Scenario[] = [compiledUpgrade, formSwitch, wrongArchitecture];
