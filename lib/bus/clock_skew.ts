/**
 * The server's time, by a request that every connection may make about itself.
 *
 * @module
 */
import { USER_INFO_SUBJECT } from "../../contracts/subjects.ts";
import type { BusCore } from "./bus_core.ts";

/**
 * Local clock minus server clock. The server's clock is read at about the middle of the round trip, so that the error is
 * at most half of it.
 *
 * @param core The connection
 * @returns ms, rounded; null when the server does not answer or may not be asked
 */
export async function measureClockSkewMs(core: BusCore): Promise<number | null> {
  try {
    const sentAtMs = Date.now();
    const startMs = performance.now();
    const answer = await core.apiRequest(USER_INFO_SUBJECT, null, "ask for the server's time");
    // The wall clock may be set meanwhile; the duration must not be.
    const roundTripMs = performance.now() - startMs;
    const server = answer.server as { time?: unknown } | undefined;
    const serverMs = Date.parse(String(server?.time));
    return Number.isNaN(serverMs) ? null : Math.round(sentAtMs + roundTripMs / 2 - serverMs);
  } catch {
    return null;
  }
}
