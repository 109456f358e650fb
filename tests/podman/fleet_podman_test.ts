/** A person at `fleetctl`, the operator and the agent as processes, a real broker and a real Podman. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { PodmanEngine } from "../../agent/podman/podman_engine.ts";
import { DEVICE_ID } from "../fakes/agent_samples.ts";
import { FleetctlProgram } from "../fleet/fleetctl_program.ts";
import { OPERATOR, ProcessFixture } from "../integration/agent/agent_process.ts";
import { OperatorProcess, withConfig } from "../integration/operator/operator_process.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { podmanMissing, PodmanService } from "./podman_service.ts";

const missing = await podmanMissing();
const skipped = missing === undefined ? "" : ` (skipped: ${missing})`;
const LOOP = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

function deploymentFile(image: string, greeting: string): string {
  return `apiVersion: fleet.nationtech.io/v1alpha1
kind: FleetDeployment
metadata: {name: web}
spec:
  allowedGroups: [edge]
  targetSelector: {matchLabels: {site: lab}}
  podmanV0:
    containers:
      - name: app
        image: "${image}"
        command: [/bin/sh, -c, "${LOOP}"]
        env: {GREETING: "${greeting}"}
        stopTimeoutSeconds: 2
`;
}

const DEVICE_FILE = `apiVersion: fleet.nationtech.io/v1alpha1
kind: Device
metadata: {name: ${DEVICE_ID}, labels: {site: lab}}
spec: {groups: [edge]}
`;

/** A fleet of one device. */
async function withFleet(
  body: (
    fleetctl: (...args: string[]) => Promise<string>,
    podman: PodmanService,
    fixture: ProcessFixture,
  ) => Promise<void>,
): Promise<void> {
  await ProcessFixture.use(async (fixture) => {
    const podman = await PodmanService.start();
    try {
      const bounds = { workloadResyncMs: 1_000, workloadRetryMinMs: 200, workloadRetryMaxMs: 1_000 };
      await fixture.configure({ podman: { enabled: true, socket: podman.socket }, bounds });
      const login = { directory: fixture.root, servers: [fixture.nats.url], ...OPERATOR };
      const program = await FleetctlProgram.create(login);
      await body(
        async (...args) => {
          const { code, err, out } = await program.run(args, { cwd: fixture.root });
          if (code !== 0) throw new Error(`fleetctl ${args.join(" ")} exited with ${code}: ${err}`);
          return out;
        },
        podman,
        fixture,
      );
    } finally {
      await podman.close();
    }
  });
}

Deno.test({
  name: `a deployment is applied, runs on the device, is changed and deleted${skipped}`,
  ignore: missing !== undefined,
  fn: () =>
    withFleet(async (fleetctl, podman, fixture) => {
      const engine = new PodmanEngine(podman.socket);
      const running = async () => (await engine.list({})).map(({ name, state }) => `${name} ${state}`).sort().join();
      const figures = async () => {
        const { status, metadata } = JSON.parse(await fleetctl("get", "deployment", "web", "-o", "json"));
        const isSeen = status?.observedGeneration === metadata.generation;
        return isSeen ? `${status.ready}/${status.targets} failed ${status.failed}` : "";
      };
      await podman.podman("run", "--detach", "--name=foreign", podman.image, "/bin/sh", "-c", LOOP);
      const passwordFile = `${fixture.root}/operator-password`;
      await Deno.writeTextFile(passwordFile, OPERATOR.password, { mode: 0o600 });
      const nats = { servers: [fixture.nats.url], user: OPERATOR.user, passwordFile };
      const bounds = { natsReconnectMinMs: 20, natsReconnectMaxMs: 200, statusWriteIntervalMs: 50 };
      await withConfig({ nats, fleetSize: 10, bounds }, async (config) => {
        let operator = new OperatorProcess(["--config", config]);
        const agent = await fixture.startReady();
        await Deno.writeTextFile(
          `${fixture.root}/fleet.yaml`,
          `${DEVICE_FILE}---\n${deploymentFile(podman.image, "hello")}`,
        );
        await fleetctl("apply", "-f", "fleet.yaml");
        await waitUntil("ready", async () => await figures() === "1/1 failed 0", 60_000);
        assertEquals(await running(), "foreign running,web.app running");
        assertEquals(
          await fleetctl("deployment", "devices", "web", "--phase", "ready", "-o", "name"),
          `device/${DEVICE_ID}\n`,
        );

        // Changed while no operator runs, which was killed.
        await operator.end("SIGKILL");
        await Deno.writeTextFile(`${fixture.root}/web.yaml`, deploymentFile(`${podman.registry.host}/none:1`, "bye"));
        await fleetctl("apply", "-f", "web.yaml");
        operator = new OperatorProcess(["--config", config]);
        await waitUntil("the failure", async () => await figures() === "0/1 failed 1", 60_000);
        // What ran before runs on while its successor cannot be had.
        assertEquals(await running(), "foreign running,web.app running");
        const told = await fleetctl("describe", "device", DEVICE_ID);
        assertStringIncludes(told, "DeploymentFailed: It cannot run web (app) as it is, and tries again by itself");
        await fleetctl("delete", "deployment", "web");
        await waitUntil("its end", async () => await running() === "foreign running", 60_000);
        assertEquals(await operator.end("SIGTERM"), 0);
        assertEquals(await agent.stop(), 0);
      });
    }),
});
