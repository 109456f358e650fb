import { assertEquals } from "@std/assert";
import { type AptStep, judgeFailure } from "./judge_failure.ts";

/** What apt 2.6 and 3.0 and dpkg say, and what it means. */
const SAID: readonly (readonly [step: AptStep, line: string, reason: string])[] = [
  ["refresh", "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 12 (perl)", "LockTimeout"],
  [
    "upgrade",
    "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
    "LockTimeout",
  ],
  ["configure", "dpkg: error: dpkg frontend lock was locked by another process with pid 12", "LockTimeout"],
  [
    "refresh",
    "E: Failed to fetch http://127.0.0.1/dists/stable/InRelease  503  Service Unavailable",
    "IndexRefreshFailed",
  ],
  ["refresh", "E: The repository 'http://127.0.0.1 stable InRelease' is not signed.", "SignatureInvalid"],
  ["refresh", "W: GPG error: http://127.0.0.1 stable InRelease: ... NO_PUBKEY 0123456789ABCDEF", "SignatureInvalid"],
  [
    "refresh",
    "E: Release file for http://127.0.0.1/dists/stable/InRelease is not valid yet (invalid for another 2d)",
    "ReleaseNotYetValid",
  ],
  [
    "refresh",
    "E: Release file for http://127.0.0.1/dists/stable/InRelease is expired (invalid since 3d)",
    "ReleaseExpired",
  ],
  [
    "refresh",
    "E: Repository 'http://127.0.0.1 stable InRelease' changed its 'Origin' value from 'A' to 'B'",
    "ReleaseInfoChanged",
  ],
  ["download", "E: Failed to fetch http://127.0.0.1/pool/lab-app_2.0_all.deb  Hash Sum mismatch", "HashMismatch"],
  ["download", "E: Failed to fetch http://127.0.0.1/pool/lab-app_2.0_all.deb  404  Not Found", "DownloadFailed"],
  ["download", "E: You don't have enough free space in /var/cache/apt/archives/.", "DiskFull"],
  ["upgrade", "dpkg: error processing archive x.deb (--unpack): cannot copy: No space left on device", "DiskFull"],
  ["upgrade", "E: Sub-process /usr/bin/dpkg returned an error code (1)", "UpgradeFailed"],
  [
    "simulate",
    "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.",
    "DpkgBroken",
  ],
  ["simulate", "E: Error, pkgProblemResolver::Resolve generated breaks", "SimulationFailed"],
  ["look", "dpkg: error: parsing file '/var/lib/dpkg/status' near line 1:", "DpkgBroken"],
  ["upgrade", "E: Write error - write (30: Read-only file system)", "ReadOnlyFileSystem"],
];

Deno.test("judgeFailure() knows what apt and dpkg say", () => {
  for (const [step, line, reason] of SAID) {
    const judged = judgeFailure(step, ["Reading package lists...", line, "some more words"]);
    assertEquals([judged.reason, judged.error], [reason, line]);
  }
});

Deno.test("judgeFailure() tells the last error of what it does not know, and something of silence", () => {
  const lines = ["W: a warning", "E: the cause", "W: an echo", "words"];
  assertEquals(judgeFailure("upgrade", lines), {
    reason: "UpgradeFailed",
    error: "E: the cause",
  });
  assertEquals(judgeFailure("refresh", []).error, "it said nothing");
});
