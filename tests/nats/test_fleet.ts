/**
 * A server with the two accounts of a fleet: an operator, and devices `a` and `b`.
 *
 * @module
 */
import { BUCKET_SPECS, type BucketName, BUCKETS } from "../../contracts/buckets.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { type NatsServer, startNatsServer } from "./nats_server.ts";
import { fleetAccountsConfig } from "./server_config.ts";
import { openTestBus, type TestBus } from "./test_bus.ts";

const FLEET_SIZE = 10_000;

/** The server and its connections. */
export interface TestFleet {
  readonly server: NatsServer;
  readonly operator: TestBus;
  readonly a: TestBus;
  readonly b: TestBus;
  close(): Promise<void>;
}

/** Configuration of its server. */
export function testFleetConfig(): string {
  return fleetAccountsConfig({
    programs: [{ user: "operator", password: "operator-password" }],
    devices: ["a", "b"].map((deviceId) => ({ deviceId, password: `${deviceId}-password` })),
  });
}

/** Connects one of its users. */
export function openFleetBus(server: NatsServer, user: "operator" | "a" | "b"): Promise<TestBus> {
  return openTestBus(server, {
    auth: { kind: "password", user, password: { value: `${user}-password` } },
    ...(user === "operator" ? {} : { deviceId: user }),
  });
}

/** Starts it, makes the buckets, and connects everyone. */
export async function openTestFleet(): Promise<TestFleet> {
  const server = await startNatsServer({ config: testFleetConfig() });
  const operator = await openFleetBus(server, "operator");
  await operator.ensureBuckets(BUCKET_SPECS, FLEET_SIZE, 1);
  const [a, b] = [await openFleetBus(server, "a"), await openFleetBus(server, "b")];
  return {
    server,
    operator,
    a,
    b,
    async close() {
      for (const bus of [a, b, operator]) await bus.close();
      await server.stop();
    },
  };
}

/** Everything in all buckets, as `bucket/key@revision=value`. */
export async function allEntries(operator: TestBus): Promise<string[]> {
  const lines: string[] = [];
  for (const name of Object.values(BUCKETS) as BucketName[]) {
    for (const [key, entry] of await snapshotMap(await operator.bucket(name), ">")) {
      lines.push(`${name}/${key}@${entry.revision}=${new TextDecoder().decode(entry.value)}`);
    }
  }
  return lines.sort();
}
