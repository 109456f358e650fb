import { assertEquals } from "@std/assert";
import { changesAnything, packageName, parseDownloadBytes, parseSimulation } from "./parse_simulation.ts";

const WHOLE = `Reading package lists...
Building dependency tree...
Reading state information...
Calculating upgrade...
The following packages will be REMOVED:
  lab-old
The following NEW packages will be installed:
  lab-new
The following packages have been kept back:
  lab-held lab-other:armhf
  lab-third
The following packages will be upgraded:
  lab-app libc6
2 upgraded, 1 newly installed, 1 to remove and 3 not upgraded.
Remv lab-old [1.0] [lab-app:amd64 ]
Inst libc6 [2.36-9+deb12u8] (2.36-9+deb12u9 Debian:12.9/stable [amd64]) [libc6:armhf ]
Conf libc6 (2.36-9+deb12u9 Debian:12.9/stable [amd64])
Inst lab-new (1.0 local [all])
Inst lab-app:armhf [1.0] (2.0 local [armhf]) []
Conf lab-new (1.0 local [all])
Conf lab-app (2.0 local [all])
`;

Deno.test("parseSimulation() reads upgrades, new packages, removals and what is kept back", () => {
  assertEquals(parseSimulation(WHOLE), {
    upgraded: [
      { name: "libc6", from: "2.36-9+deb12u8", to: "2.36-9+deb12u9" },
      { name: "lab-app", from: "1.0", to: "2.0" },
    ],
    installed: [{ name: "lab-new", to: "1.0" }],
    removed: [{ name: "lab-old", from: "1.0" }],
    kept: ["lab-held", "lab-other", "lab-third"],
    keptCount: 3,
  });
});

Deno.test("parseSimulation() of nothing to do changes nothing", () => {
  const plan = parseSimulation(
    "Calculating upgrade...\n0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n",
  );
  assertEquals(plan, { upgraded: [], installed: [], removed: [], kept: [], keptCount: 0 });
  assertEquals(plan === null || changesAnything(plan), false);
});

Deno.test("parseSimulation() counts phased packages among the kept ones", () => {
  const plan = parseSimulation(
    "The following upgrades have been deferred due to phasing:\n  lab-phased\n" +
      "0 upgraded, 0 newly installed, 0 to remove and 1 not upgraded.\n",
  );
  assertEquals([plan?.kept, plan?.keptCount], [["lab-phased"], 1]);
});

Deno.test("parseSimulation() takes the summary with reinstalled and downgraded packages", () => {
  const plan = parseSimulation(
    "1 upgraded, 0 newly installed, 1 reinstalled, 1 downgraded, 0 to remove and 2 not upgraded.\nPurg lab [1]\n",
  );
  assertEquals([plan?.keptCount, plan?.removed], [2, [{ name: "lab", from: "1" }]]);
});

Deno.test("parseSimulation() refuses an output without its summary", () => {
  assertEquals(parseSimulation(""), null);
  assertEquals(parseSimulation("Inst lab [1] (2 local [all])\n"), null);
});

Deno.test("packageName() leaves the architecture out", () => {
  assertEquals(["libc6:armhf", "libstdc++6", "lab"].map(packageName), ["libc6", "libstdc++6", "lab"]);
});

Deno.test("parseDownloadBytes() adds up the archives", () => {
  const output = `Reading package lists...
'http://127.0.0.1/pool/lab-app_2.0_all.deb' lab-app_2.0_all.deb 1234 SHA256:00
'file:/x/lab_1%3a2_all.deb' lab_1%3a2_all.deb 66 SHA512:11
`;
  assertEquals(parseDownloadBytes(output), 1_300);
  assertEquals(parseDownloadBytes("nothing\n"), 0);
});
