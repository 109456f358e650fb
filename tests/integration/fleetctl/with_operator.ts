/**
 * An operator beside `fleetctl`, on its server.
 *
 * @module
 */
import { connectBus } from "../../../lib/bus/connect.ts";
import { OperatorWorld } from "../operator/operator_world.ts";
import type { FleetctlWorld } from "./fleetctl_world.ts";

/** An operator and devices on the server of `fleetctl`. */
export async function withOperator(world: FleetctlWorld, body: (fleet: OperatorWorld) => Promise<void>): Promise<void> {
  const connect = () =>
    connectBus({
      servers: [world.server.url],
      name: "operator",
      auth: { kind: "password", user: "ops", password: { file: `${world.directory}/password` } },
    });
  const fleet = await OperatorWorld.open({ connect, close: () => Promise.resolve() });
  try {
    await fleet.operator();
    await body(fleet);
  } finally {
    await fleet.close();
  }
}
