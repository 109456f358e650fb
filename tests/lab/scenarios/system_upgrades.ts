/**
 * System upgrades on a booted device, against a signed repository of the test (issue 6, Proof).
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../../nats/wait_until.ts";
import { REPOSITORY_TOOLS } from "../apt_repository.ts";
import { AGENT, UPDATER } from "../lab_fleet.ts";
import type { Scenario } from "../scenario.ts";
import { FAST_APT, withApt } from "../system_upgrade_lab.ts";

const APP = { name: "lab-app", version: "1.0" } as const;
const APP_2 = { ...APP, version: "2.0" } as const;
const OPTIONS = { updaterBounds: FAST_APT };

const plainUpgrade: Scenario = {
  name: "apt-plain",
  inShort: true,
  title: "a system upgrade upgrades, reboots and succeeds; the next one finds nothing to do and does not reboot",
  options: OPTIONS,
  async run(lab, note) {
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add(APP_2);
      const startMs = performance.now();
      const attempt = await apt.request();
      const status = await apt.upgrades(attempt);
      note("upgrade with reboot, s", (performance.now() - startMs) / 1_000);
      assertEquals(await apt.version("lab-app"), "2.0");
      assertEquals(status.summary?.upgraded, { count: 1, names: ["lab-app"] });
      assert((status.summary?.downloadedBytes ?? 0) > 0);
      // A duplicate, and the next run: nothing is done twice, and nothing is nothing.
      await apt.send(attempt);
      const boot = await lab.device.sh("cat /proc/sys/kernel/random/boot_id");
      await apt.ended(await apt.request(), "succeeded NothingToDo");
      assertEquals(await lab.device.sh("cat /proc/sys/kernel/random/boot_id"), boot);
      assertStringIncludes(await lab.device.sh("fleet-updater status"), "NothingToDo");
      assertEquals(await lab.device.sh("ls /var/cache/apt/archives/*.deb 2>/dev/null || true"), "");
      // A reboot that somebody else asked for is a reboot that is due.
      await lab.device.sh("touch /run/reboot-required");
      const due = await apt.request();
      await apt.reboots();
      await apt.ended(due, "succeeded Rebooted");
    });
  },
};

const configurationFiles: Scenario = {
  name: "apt-conffiles",
  title: "configuration that was changed or deleted stays as it is, and one that was not gets the new content",
  options: OPTIONS,
  async run(lab) {
    const names = ["changed", "deleted", "untouched"];
    const files = (text: string) => Object.fromEntries(names.map((name) => [`etc/lab-app/${name}`, `${text}\n`]));
    const conffiles = names.map((name) => `etc/lab-app/${name}`);
    await withApt(lab, [{ ...APP, files: files("one"), conffiles }], async (apt) => {
      await lab.device.sh("echo mine >/etc/lab-app/changed; rm /etc/lab-app/deleted");
      await apt.repository.add({ ...APP_2, files: files("two"), conffiles });
      await apt.upgrades(await apt.request());
      const shown = await lab.device.sh("cat /etc/lab-app/changed /etc/lab-app/untouched; ls /etc/lab-app");
      assertEquals(shown.split("\n").filter((line) => !line.includes("dpkg")), ["mine", "two", "changed", "untouched"]);
    });
  },
};

const heldAndRemoved: Scenario = {
  name: "apt-held-removed",
  title: "a held package is counted and stays; a removal is done where it may be, and refused where it may not",
  options: OPTIONS,
  async run(lab) {
    const held = { name: "lab-held", version: "1.0" };
    const old = { name: "lab-old", version: "1.0" };
    const netplan = { name: "netplan.io", version: "99.0" };
    await withApt(lab, [APP, held, old, netplan], async (apt) => {
      await lab.device.sh("apt-mark hold lab-held");
      await apt.repository.add({ ...APP_2, conflicts: "netplan.io" }, { ...held, version: "2.0" });
      const refused = await apt.ended(await apt.request(), "failed ProtectedRemoval");
      assertStringIncludes(refused.error ?? "", "netplan.io");
      assertEquals([await apt.version("lab-app"), await apt.version("netplan.io")], ["1.0", "99.0"]);
      await apt.repository.add({ ...APP, version: "3.0", conflicts: "lab-old" });
      const { summary } = await apt.upgrades(await apt.request());
      assertEquals([summary?.removed?.names, summary?.kept], [["lab-old"], { count: 1, names: ["lab-held"] }]);
      assertEquals([await apt.version("lab-app"), await apt.version("lab-held")], ["3.0", "1.0"]);
    });
  },
};

const interruptedBefore: Scenario = {
  name: "apt-unconfigured",
  title: "a package that an earlier crash left unconfigured is configured, also with a changed configuration file",
  options: OPTIONS,
  async run(lab) {
    const files = (text: string) => ({ "etc/lab-app.conf": `${text}\n` });
    const conffiles = ["etc/lab-app.conf"];
    await withApt(lab, [{ ...APP, files: files("one"), conffiles }], async (apt) => {
      await lab.device.sh("echo mine >/etc/lab-app.conf");
      await apt.repository.add({ ...APP_2, files: files("two"), conffiles });
      await lab.device.sh(
        "apt-get update -q; cd /tmp; apt-get download -q lab-app; dpkg --unpack ./lab-app_2.0_all.deb",
      );
      assertStringIncludes(await lab.device.sh("dpkg --audit"), "lab-app");
      const attempt = await apt.request();
      await apt.reboots();
      await apt.ended(attempt, "succeeded Rebooted");
      assertEquals(await lab.device.sh("cat /etc/lab-app.conf; dpkg --audit"), "mine");
    });
  },
};

const badRepository: Scenario = {
  name: "apt-bad-repository",
  title: "a mirror that is down, another key, a date in the future, and altered archives each have their reason",
  options: OPTIONS,
  async run(lab) {
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add(APP_2);
      for (
        const [fault, expected] of [
          ["down", "failed IndexRefreshFailed"],
          ["other-key", "failed SignatureInvalid"],
          ["future", "failed ReleaseNotYetValid"],
          ["bad-archive", "failed HashMismatch"],
        ] as const
      ) {
        await apt.repository.setFault(fault);
        const status = await apt.ended(await apt.request(), expected);
        assert((status.failedCommand?.lastLines?.length ?? 0) > 0, `${fault}: no output`);
        assertEquals(await apt.version("lab-app"), "1.0", fault);
      }
      await apt.repository.setFault("none");
      await apt.upgrades(await apt.request());
    });
  },
};

/** Holds a lock until it is stopped, and says that it does. */
const HOLDER = `use Fcntl;
  open(my $file, ">", $ARGV[0]) or die; my $lock = pack("s s l! l! i", F_WRLCK, 0, 0, 0, 0);
  fcntl($file, F_SETLK, $lock) or die; open(my $held, ">", "/run/lab-held"); sleep 1000;`;

const locked: Scenario = {
  name: "apt-locked",
  title: "a lock that somebody holds is waited for, and told when it is held for too long",
  options: { updaterBounds: { ...FAST_APT, aptLockTimeoutMs: 12_000 } },
  async run(lab) {
    const { device } = lab;
    const hold = async (path: string) => {
      await device.sh(`systemd-run --quiet --unit=lab-holder perl -e '${HOLDER}' ${path}`);
      await waitUntil("the lock", async () => (await device.exec(["test", "-e", "/run/lab-held"])).code === 0);
    };
    const release = () => device.sh("systemctl stop lab-holder; rm /run/lab-held");
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add(APP_2);
      for (const path of ["/var/lib/apt/lists/lock", "/var/lib/dpkg/lock-frontend"]) {
        await hold(path);
        await apt.ended(await apt.request(), "failed LockTimeout");
        assertEquals(await apt.version("lab-app"), "1.0", path);
        await release();
      }
      await hold("/var/lib/apt/lists/lock");
      const attempt = await apt.request();
      await apt.inPhase(attempt, "refreshing");
      await release();
      await apt.upgrades(attempt);
    });
  },
};

const diskFull: Scenario = {
  name: "apt-disk-full",
  title: "too little room is found before anything begins; a disk that fills up under dpkg fails the run and is told",
  options: OPTIONS,
  async run(lab) {
    const { device } = lab;
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add({ ...APP_2, payloadBytes: 24 * 1_024 * 1_024 });
      await device.sh(
        "mount -t tmpfs -o size=16m tmpfs /var/cache/apt/archives && mkdir /var/cache/apt/archives/partial",
      );
      const before = await apt.ended(await apt.request(), "failed DiskFull");
      assertStringIncludes(before.error ?? "", "/var/cache/apt/archives");
      assertEquals(before.transitions.some(({ phase }) => phase === "upgrading"), false);
      await device.sh(
        "umount /var/cache/apt/archives; mkdir -p /srv/lab-app; mount -t tmpfs -o size=8m tmpfs /srv/lab-app",
      );
      const during = await apt.ended(await apt.request(), "failed DiskFull");
      assert(during.transitions.some(({ phase }) => phase === "upgrading"));
      assertEquals(await apt.version("lab-app"), "1.0");
      await device.sh("umount /srv/lab-app");
      await apt.upgrades(await apt.request());
    });
  },
};

const badScripts: Scenario = {
  name: "apt-bad-scripts",
  title: "a package whose script fails or hangs fails the run; a mended package is configured by the next one",
  options: { updaterBounds: { ...FAST_APT, aptUpgradeTimeoutMs: 8_000 } },
  async run(lab) {
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add({ ...APP_2, postinst: "echo broken on purpose >&2; exit 1" });
      const failed = await apt.ended(await apt.request(), "failed UpgradeFailed");
      assertStringIncludes(failed.failedCommand?.lastLines?.join("\n") ?? "", "broken on purpose");
      assertEquals(await lab.device.sh("fleet-updater status >/dev/null; echo $?"), "0");
      await apt.repository.add({ ...APP, version: "3.0", postinst: "sleep 1000" });
      // What the first one left cannot be configured either: the next run says so, and touches nothing.
      await apt.ended(await apt.request(), "failed DpkgBroken");
      await lab.device.sh("printf '#!/bin/sh\\nexit 0\\n' >/var/lib/dpkg/info/lab-app.postinst; dpkg --configure -a");
      const hung = await apt.ended(await apt.request(), "failed UpgradeTimedOut");
      assertEquals(hung.failedCommand?.timedOut, true);
      assertEquals(await lab.device.sh("grep -lx sleep /proc/[0-9]*/comm 2>/dev/null || true"), "", "what hung");
      await lab.device.sh("printf '#!/bin/sh\\nexit 0\\n' >/var/lib/dpkg/info/lab-app.postinst");
      const attempt = await apt.request();
      await apt.reboots();
      await apt.ended(attempt, "succeeded Rebooted");
    });
  },
};

const restarts: Scenario = {
  name: "apt-restarts-us",
  title: "a package that restarts the agent and the updater, or kills the updater, does not end its own upgrade",
  options: OPTIONS,
  async run(lab) {
    const postinst =
      `systemctl restart ${AGENT} ${UPDATER}; sleep 3; systemctl kill --signal=SIGKILL ${UPDATER}; sleep 3`;
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add({ ...APP_2, postinst });
      const attempt = await apt.request();
      const { transitions } = await apt.upgrades(attempt);
      assertEquals(transitions.filter(({ phase }) => phase === "upgrading").length, 1);
      assertEquals(await apt.version("lab-app"), "2.0");
    });
  },
};

const powerCuts: Scenario = {
  name: "apt-power-cuts",
  title: "a power cut while dpkg runs is Interrupted, and mended by the next run; one after the record is a success",
  options: OPTIONS,
  async run(lab) {
    const { device } = lab;
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add({ ...APP_2, postinst: "touch /run/lab-configuring; sleep 20" });
      const cut = await apt.request();
      await waitUntil(
        "dpkg to configure",
        async () => (await device.exec(["test", "-e", "/run/lab-configuring"])).code === 0,
        60_000,
      );
      await device.cut();
      await device.boot();
      await apt.ended(cut, "failed Interrupted");
      assertStringIncludes(await device.sh("dpkg --audit"), "lab-app");
      // The same intent again: it never runs twice.
      await apt.send(cut);
      await device.sh("printf '#!/bin/sh\\nexit 0\\n' >/var/lib/dpkg/info/lab-app.postinst");
      const mended = await apt.request();
      await apt.reboots();
      await apt.ended(mended, "succeeded Rebooted");
      assertEquals((await apt.status(cut))?.reason, "Interrupted");
      // Before the record, in a phase that changes nothing; and after it, while the device goes down.
      await apt.repository.add({ ...APP, version: "3.0" });
      await apt.repository.setFault("down");
      const early = await apt.request();
      await apt.inPhase(early, "refreshing");
      await device.cut();
      await apt.repository.setFault("none");
      await device.boot();
      await apt.ended(early, "failed Interrupted");
      assertEquals(await apt.version("lab-app"), "2.0");
      await device.sh(
        `systemd-run --quiet --unit=lab-inhibitor systemd-inhibit --what=shutdown --mode=block sleep 1000`,
      );
      const late = await apt.request();
      await apt.inPhase(late, "rebooting");
      await device.cut();
      await device.boot();
      await apt.ended(late, "succeeded Upgraded");
    });
  },
};

const refusedReboot: Scenario = {
  name: "apt-reboot-refused",
  title: "an inhibitor that refuses the reboot fails the run; the reboot stays owed, and the next run does it",
  options: OPTIONS,
  async run(lab) {
    const { device } = lab;
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add(APP_2);
      await device.sh(
        `systemd-run --quiet --unit=lab-inhibitor systemd-inhibit --what=shutdown --mode=block sleep 1000`,
      );
      await apt.ended(await apt.request(), "failed RebootRefused");
      assertEquals(await apt.version("lab-app"), "2.0");
      await device.sh("systemctl stop lab-inhibitor");
      const attempt = await apt.request();
      await apt.reboots();
      await apt.ended(attempt, "succeeded Rebooted");
    });
  },
};

const expiry: Scenario = {
  name: "apt-expiry",
  title: "an expired intent never begins; one that waits for a clock that was never set begins once it is",
  options: OPTIONS,
  async run(lab) {
    await withApt(lab, [APP], async (apt) => {
      await apt.repository.add(APP_2);
      const past = new Date(Date.now() - 1_000).toISOString();
      await apt.ended(await apt.request({ createdAt: past, expiresAt: past }), "failed Expired");
      await lab.behave({ "1.0.0": { nowMs: 1_000 } });
      await lab.device.sh(`systemctl restart ${AGENT}`);
      const attempt = await apt.request();
      await waitUntil("the deferral to be told", async () => (await lab.heartbeat()).includes("ClockInsane"), 60_000);
      assertEquals([await apt.version("lab-app"), await apt.status(attempt)], ["1.0", null]);
      await lab.behave({});
      await lab.device.sh(`systemctl restart ${AGENT}`);
      await apt.upgrades(attempt);
    });
  },
};

const corruptLedger: Scenario = {
  name: "apt-corrupt-ledger",
  title:
    "a corrupt ledger costs no agent: system upgrades are off, are told to be, and are back once root has renewed it",
  options: OPTIONS,
  async run(lab) {
    const { device, paths } = lab;
    await withApt(lab, [APP], async (apt) => {
      await apt.ended(await apt.request(), "succeeded NothingToDo");
      await device.sh(`sed -i 's/succeeded/succeedeD/' ${paths.ledger}; systemctl restart ${UPDATER}`);
      await waitUntil("the problem to be told", async () => (await lab.heartbeat()).includes("ledger"), 60_000);
      assertEquals((await lab.state())?.capabilities.includes("AptFullUpgradeV1"), false);
      assertStringIncludes((await device.exec(["fleet-updater", "status"])).stdout, "--renew-ledger");
      const waiting = await apt.request();
      await lab.agentReady("1.0.0");
      // The runbook.
      await device.sh(`systemctl stop ${UPDATER}; fleet-updater repair --renew-ledger; systemctl start ${UPDATER}`);
      await apt.ended(waiting, "failed LedgerLost");
      await lab.agentReady("1.0.0");
    });
  },
};

/** Every scenario of system upgrades. */
export const SYSTEM_UPGRADES: readonly Scenario[] = ([
  plainUpgrade,
  configurationFiles,
  heldAndRemoved,
  interruptedBefore,
  badRepository,
  locked,
  diskFull,
  badScripts,
  restarts,
  powerCuts,
  refusedReboot,
  expiry,
  corruptLedger,
] satisfies Scenario[]).map((scenario) => ({ ...scenario, tools: REPOSITORY_TOOLS }));
