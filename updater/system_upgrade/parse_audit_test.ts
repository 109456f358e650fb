import { assertEquals } from "@std/assert";
import { isCleanAudit, parseAudit } from "./parse_audit.ts";

const DIRTY = `The following packages have been unpacked but not yet configured.
They must be configured using dpkg --configure or the configure
menu option in dselect for them to work:
 lab-app              an application of the lab
 libfoo:armhf         a library

The following packages are only half configured, probably due to problems
configuring them the first time.  The configuration should be retried using
dpkg --configure <package> or the configure menu option in dselect:
 lab-hang             hangs
 lab-app              an application of the lab

`;

Deno.test("parseAudit() names each package once, and nothing of the words between", () => {
  assertEquals(parseAudit(DIRTY), ["lab-app", "libfoo", "lab-hang"]);
  assertEquals(parseAudit(""), []);
});

Deno.test("isCleanAudit() takes silence alone for clean", () => {
  assertEquals([isCleanAudit(""), isCleanAudit("\n"), isCleanAudit(DIRTY), isCleanAudit("dpkg: odd\n")], [
    true,
    true,
    false,
    false,
  ]);
});
