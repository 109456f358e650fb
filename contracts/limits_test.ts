import { assert, assertEquals, assertGreater, assertLess, assertLessOrEqual } from "@std/assert";
import * as limits from "./limits.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const MIB = 1_048_576;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("limits: the seed's table, exactly", () => {
  assertEquals([limits.HTTPS_CONNECT_TIMEOUT_MS, limits.HTTPS_REQUEST_TIMEOUT_MS], [15 * SECOND_MS, 5 * MINUTE_MS]);
  assertEquals(limits.ARTIFACT_MAX_BYTES, 100 * MIB);
  assertEquals([limits.NATS_CONNECT_TIMEOUT_MS, limits.NATS_RETRY_WINDOW_MS], [15 * SECOND_MS, 3 * MINUTE_MS]);
  assertEquals(limits.PROBE_TIMEOUT_MS, 4 * MINUTE_MS);
  assertEquals([limits.SERVICE_STOP_TIMEOUT_MS, limits.UPDATER_STOP_BOUND_MS], [60 * SECOND_MS, 65 * SECOND_MS]);
  assertEquals([limits.SERVICE_START_TIMEOUT_MS, limits.UPDATER_START_BOUND_MS], [240 * SECOND_MS, 255 * SECOND_MS]);
  assertEquals([limits.SOCKET_READ_TIMEOUT_MS, limits.SOCKET_STATUS_TIMEOUT_MS], [10 * SECOND_MS, 15 * SECOND_MS]);
  assertEquals(limits.SOCKET_UPGRADE_TIMEOUT_MS, 20 * MINUTE_MS);
  assertEquals([limits.SOCKET_MESSAGE_MAX_BYTES, limits.SOCKET_HANDLERS_MAX], [MIB, 32]);
  assertEquals([limits.TRANSITIONS_MAX, limits.DETAIL_MAX_CHARS], [16, 1_024]);
});

pure("limits: every number is a positive safe integer", () => {
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value === "string") continue;
    assert(Number.isSafeInteger(value) && value > 0, `${name} is ${value}`);
  }
});

pure("limits: each bound of the updater leaves the service manager time to answer first", () => {
  assertLess(limits.SERVICE_STOP_TIMEOUT_MS, limits.UPDATER_STOP_BOUND_MS);
  assertLess(limits.SERVICE_START_TIMEOUT_MS, limits.UPDATER_START_BOUND_MS);
});

pure("limits: an agent that cannot reach NATS says so before anybody gives up on it", () => {
  assertLess(limits.NATS_CONNECT_TIMEOUT_MS, limits.NATS_RETRY_WINDOW_MS);
  assertLess(limits.NATS_RETRY_WINDOW_MS + limits.SNAPSHOT_STALL_TIMEOUT_MS, limits.SERVICE_START_TIMEOUT_MS);
  assertLess(limits.NATS_RETRY_WINDOW_MS + limits.SNAPSHOT_STALL_TIMEOUT_MS, limits.PROBE_TIMEOUT_MS);
  assertLess(limits.NATS_RECONNECT_MAX_MS, limits.NATS_RETRY_WINDOW_MS);
  assertLess(limits.NATS_RECONNECT_MIN_MS, limits.NATS_RECONNECT_MAX_MS);
  assertLess(limits.NATS_REQUEST_TIMEOUT_MS, limits.SNAPSHOT_STALL_TIMEOUT_MS);
});

pure("limits: the slowest upgrade, its rollback included, is answered within the socket's bound", () => {
  const slowest = limits.HTTPS_REQUEST_TIMEOUT_MS + limits.PROBE_TIMEOUT_MS +
    2 * (limits.UPDATER_STOP_BOUND_MS + limits.UPDATER_START_BOUND_MS);
  assertEquals(slowest, limits.LOST_AFTER_MS);
  assertEquals(slowest, 19 * MINUTE_MS + 40 * SECOND_MS);
  assertLess(slowest, limits.SOCKET_UPGRADE_TIMEOUT_MS);
});

pure("limits: parts of a transfer fit the whole", () => {
  assertLess(limits.HTTPS_CONNECT_TIMEOUT_MS, limits.HTTPS_REQUEST_TIMEOUT_MS);
  assertLess(limits.FETCH_STALL_TIMEOUT_MS, limits.HTTPS_REQUEST_TIMEOUT_MS);
  assertLess(limits.FETCH_RESUME_MIN_MS, limits.FETCH_RESUME_MAX_MS);
  assertLess(limits.FETCH_STALL_TIMEOUT_MS + limits.FETCH_RESUME_MAX_MS, limits.HTTPS_REQUEST_TIMEOUT_MS / 2);
  assertLess(limits.FETCH_RESUMES_MAX * limits.FETCH_RESUME_MAX_MS, limits.HTTPS_REQUEST_TIMEOUT_MS);
  assertEquals(limits.ARTIFACT_MAX_BYTES % limits.DIGEST_CHUNK_BYTES, 0);
});

pure("limits: the socket's clients", () => {
  assertLess(limits.SOCKET_READ_TIMEOUT_MS, limits.SOCKET_STATUS_TIMEOUT_MS);
  assertLess(limits.SOCKET_STATUS_TIMEOUT_MS, limits.SOCKET_UPGRADE_TIMEOUT_MS);
  // Whatever is repeated for 20 minutes, status is answered.
  assertLess(limits.SOCKET_UPGRADE_WAITERS_MAX, limits.SOCKET_HANDLERS_MAX);
  assertLess(limits.SOCKET_LINGER_MS, limits.SOCKET_WRITE_TIMEOUT_MS);
  assertLess(limits.UPDATER_POLL_ACTIVE_MS, limits.UPDATER_POLL_IDLE_MS);
});

pure("limits: liveness", () => {
  const staleAfterMs = limits.HEARTBEAT_INTERVAL_MS * limits.STALE_AFTER_HEARTBEATS;
  assertGreater(staleAfterMs, limits.HEARTBEAT_INTERVAL_MS + limits.HEARTBEAT_JITTER_MS);
  assertLess(staleAfterMs, limits.LOST_AFTER_MS);
  assertLess(limits.HEARTBEAT_MIN_GAP_MS, limits.HEARTBEAT_INTERVAL_MS);
  assertLessOrEqual(limits.FLEET_SIZE_DEFAULT, limits.FLEET_SIZE_MAX);
  // A half-dead link is noticed before the device is called stale.
  assertLess(limits.NATS_PING_INTERVAL_MS * (limits.NATS_MAX_PINGS_OUT + 1), staleAfterMs);
});

pure("limits: a drain ends before the service manager kills it, even when every part of it times out", () => {
  const drain = limits.DRAIN_MUTATION_TIMEOUT_MS + limits.DRAIN_STATUS_TIMEOUT_MS + limits.DRAIN_PUBLISH_TIMEOUT_MS +
    limits.DRAIN_RECORD_TIMEOUT_MS + limits.DRAIN_FLUSH_TIMEOUT_MS + limits.DRAIN_CLOSE_TIMEOUT_MS;
  assertLess(drain, limits.SERVICE_STOP_TIMEOUT_MS);
});

pure("limits: pauses and timers fit the runtime's 31 bits", () => {
  for (const [name, value] of Object.entries(limits)) {
    if (name.endsWith("_MS") && name !== "CLOCK_EARLIEST_MS" && typeof value === "number") {
      assertLessOrEqual(value, limits.TIMER_MAX_MS, name);
    }
  }
});

pure("limits: a device that reconnects after an outage is heard before its silence counts", () => {
  const backAfterMs = limits.NATS_RECONNECT_MAX_MS + limits.HEARTBEAT_INTERVAL_MS + limits.HEARTBEAT_JITTER_MS;
  assertLess(backAfterMs, limits.STALE_AFTER_MS);
  assertLess(limits.STALE_AFTER_MS, limits.LOST_AFTER_MS);
});

pure("limits: an operator that is behind catches up before it answers another one", () => {
  assertLess(limits.STATUS_WRITE_INTERVAL_MS, limits.FOREIGN_WRITE_SETTLE_MS);
  assertLess(limits.LOST_RACE_PAUSE_MS, limits.STATUS_WRITE_INTERVAL_MS);
  assertLess(limits.RECONCILE_RETRY_MIN_MS, limits.RECONCILE_RETRY_MAX_MS);
  assertLess(limits.RECONCILE_SLICE_MS, limits.HEARTBEAT_INTERVAL_MS);
});

pure("limits: whoever supervises outlasts what is supervised", () => {
  assertLess(limits.KILL_GRACE_MS, limits.UPDATER_STOP_BOUND_MS - limits.SERVICE_STOP_TIMEOUT_MS);
  assertLess(limits.OUTPUT_GRACE_MS + limits.KILL_GRACE_MS, limits.PROBE_TIMEOUT_MS);
  assertLess(limits.EXEC_BUSY_PAUSE_MS, limits.EXEC_BUSY_RETRY_MS);
  assertLess(limits.PROCESS_POLL_MS, limits.KILL_GRACE_MS);
  assertLess(limits.SELF_TEST_REPORT_MAX_BYTES, limits.PROBE_OUTPUT_MAX_BYTES);
  assertLess(limits.AGENT_OUTPUT_KEPT_BYTES, limits.AGENT_OUTPUT_MAX_BYTES);
  // Four bytes for the costliest character of a line.
  assertLessOrEqual(
    limits.POST_MORTEM_LINES_MAX * (4 * limits.POST_MORTEM_LINE_MAX_CHARS + 1),
    limits.OUTPUT_TAIL_BYTES,
  );
});

pure("limits: a lost consumer is found before it is given up on, and soon enough", () => {
  assertLess(limits.WATCH_HEARTBEATS_MISSED_MAX * limits.SNAPSHOT_HEARTBEAT_MS, limits.SNAPSHOT_STALL_TIMEOUT_MS);
  const lostWatchMs = (limits.WATCH_HEARTBEATS_MISSED_MAX + 1) * limits.WATCH_HEARTBEAT_MS;
  assertLess(lostWatchMs, limits.STALE_AFTER_HEARTBEATS * limits.HEARTBEAT_INTERVAL_MS);
  // The server drops a consumer that nobody listens to before its next reader is likely to come.
  assertLess(limits.CONSUMER_IDLE_MS, limits.NATS_RECONNECT_MAX_MS);
});

pure("limits: pauses between tries begin below where they end", () => {
  assertLess(limits.ROLLBACK_RETRY_MIN_MS, limits.ROLLBACK_RETRY_MAX_MS);
  assertLess(limits.NOTIFY_RETRY_MIN_MS, limits.NOTIFY_RETRY_MAX_MS);
  assertLess(limits.STARTUP_RETRY_MS, limits.NATS_RETRY_WINDOW_MS);
  assertLess(limits.INTENT_RECHECK_MS, limits.STATUS_REREAD_MS);
  assertLess(limits.SERVICE_RESTART_DELAY_MS, limits.UPDATER_AWAY_AFTER_MS);
});

pure("limits: a loop is called stalled only above every bound within one of its turns", () => {
  const longestTurnMs = Math.max(
    limits.SOCKET_STATUS_TIMEOUT_MS + 3 * limits.NATS_REQUEST_TIMEOUT_MS,
    limits.HEARTBEAT_INTERVAL_MS + limits.HEARTBEAT_JITTER_MS + 3 * limits.NATS_REQUEST_TIMEOUT_MS,
    limits.NATS_RECONNECT_MAX_MS + limits.SNAPSHOT_STALL_TIMEOUT_MS,
  );
  assertLess(longestTurnMs, limits.LOOP_STALL_MS);
});

pure("limits: a repair is waited for as long as its stop and start may take", () => {
  assertEquals(
    limits.REPAIR_TIMEOUT_MS,
    limits.UPDATER_STOP_BOUND_MS + limits.UPDATER_START_BOUND_MS + limits.SOCKET_STATUS_TIMEOUT_MS,
  );
  assertLess(limits.REPAIR_LOOK_AGAIN_MS, limits.REPAIR_UPDATER_WAIT_MS);
  assertLess(limits.UPDATER_SHUTDOWN_MS, limits.SOCKET_STATUS_TIMEOUT_MS);
  // The service manager's tools answer within one look at the agent, and their answer holds its last output.
  assertLess(limits.SYSTEM_TOOL_TIMEOUT_MS, limits.SOCKET_STATUS_TIMEOUT_MS);
  assertLess(limits.OUTPUT_TAIL_BYTES, limits.SYSTEM_TOOL_OUTPUT_MAX_BYTES);
});
