/** A whole upgrade through a real registry: pushed by fleetctl, fetched by the updater, by tag and by digest. */
import { assert, assertEquals } from "@std/assert";
import { CAPABILITY_HTTPS, CAPABILITY_OCI } from "../../contracts/device.ts";
import { startDockerRegistry } from "../artifacts/servers/docker_registry.ts";
import { testWith } from "../artifacts/servers/find_server.ts";
import { startTokenService } from "../artifacts/servers/token_service.ts";
import { buildAgent } from "../fleet/agent_builds.ts";
import { Fleet } from "../fleet/fleet.ts";
import { FleetctlProgram } from "../fleet/fleetctl_program.ts";
import { createTestAuthority } from "../tls/test_authority.ts";

testWith("docker-registry", "a device upgrades from a registry: by tag, then by digest", async (program) => {
  await using fleet = await Fleet.start({ deviceIds: ["device-1"] });
  const device = fleet.device("device-1");
  const authority = await createTestAuthority("the registry's authority");
  // Read at each fetch: the device need not be told.
  await Deno.writeTextFile(fleet.artifactCaFile, `\n${authority.caCert}\n`, { append: true });
  const caFile = `${fleet.directory}/registry-ca.pem`;
  await Deno.writeTextFile(caFile, authority.caCert);
  const certificate = await authority.issue();
  const login = { user: "ci", password: crypto.randomUUID() as string };
  await using tokens = startTokenService({ certificate, signer: await authority.issue(), service: "tests", ...login });
  await using registry = await startDockerRegistry({
    program,
    directory: `${fleet.directory}/r`,
    certificate,
    tokens: { realm: tokens.realm, service: "tests", issuer: tokens.issuer, caCert: authority.caCert },
  });
  const authFile = `${fleet.directory}/auth.json`;
  const auth = btoa(`${login.user}:${login.password}`);
  await Deno.writeTextFile(authFile, JSON.stringify({ auths: { [registry.host]: { auth } } }), { mode: 0o600 });
  const fleetctl = await FleetctlProgram.create({
    directory: fleet.directory,
    servers: [fleet.server.url],
    user: "operator",
    password: fleet.operatorPassword,
  });
  await fleet.ready();
  assertEquals((await device.state())?.capabilities, [CAPABILITY_HTTPS, CAPABILITY_OCI]);

  for (const [version, by] of [["1.1.0", "tag"], ["1.2.0", "digest"]] as const) {
    const directory = await Deno.makeTempDir({ dir: fleet.directory, prefix: "build-" });
    const built = await buildAgent(directory, { version });
    const tagged = `oci://${registry.host}/fleet/agent:${version}`;
    const pushed = await fleetctl.run([
      ...["artifact", "push", built.path, tagged, "--agent-version", version, "-o", "json"],
      ...["--registry-ca-file", caFile, "--registry-auth-file", authFile],
    ]);
    assertEquals(pushed.code, 0, pushed.err);
    const ours = JSON.parse(pushed.out).artifacts.find(({ arch }: { arch: string }) => arch === Deno.build.arch);
    assertEquals([ours.form, ours.sha256], ["script", built.sha256]);
    const url: string = by === "tag" ? tagged : ours.url;
    const attempt = fleet.attempt("device-1", version, { ...built, url });
    await fleet.send(attempt);
    const status = await fleet.waitForStatus(
      "device-1",
      `${version} by ${by} to end`,
      ({ attemptId, phase }) => attemptId === attempt.attemptId && (phase === "complete" || phase === "failed"),
    );
    assertEquals([status.phase, status.error], ["complete", undefined]);
    assertEquals(await device.selectedVersion(), version);
  }
  const anonymous = tokens.requests.filter(({ authorization }) => authorization === null);
  assert(anonymous.length >= 2, "the device asked for its tokens without a login");
});
