/**
 * `fleetctl`: drives a fleet through its resources.
 *
 * @module
 */
import { BUILD_FORM, BUILD_VERSION } from "../../contracts/build_info.ts";
import { runProgram } from "../../lib/program.ts";
import { openFleet } from "./connection/open_fleet.ts";
import { resolveConnection } from "./connection/resolve_connection.ts";
import { readInput } from "./read_input.ts";
import { runFleetctl } from "./run_fleetctl.ts";
import { processTerminal } from "./terminal.ts";

const environment = (name: string) => Deno.env.get(name);

if (import.meta.main) {
  await runProgram({
    name: "fleetctl",
    main: (signal) =>
      runFleetctl(Deno.args, {
        terminal: processTerminal(environment),
        version: `fleetctl ${BUILD_VERSION} (${BUILD_FORM})`,
        readInput,
        resolveConnection: (flags) => resolveConnection(flags, environment),
        openFleet,
        environment,
        signal,
      }),
  });
}
