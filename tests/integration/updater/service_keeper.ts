/**
 * An updater reduced to its service manager, for tests that kill it: starts the service of the root that it is given.
 *
 * @module
 */
import { managedPaths } from "../../../contracts/managed_paths.ts";
import { osFileSystem } from "../../../lib/durable/os_file_system.ts";
import { silentLogger } from "../../../lib/log.ts";
import { openProcessService } from "../../../updater/services/process_service.ts";
import { programEnvironment } from "../../fakes/process_service_subject.ts";

const service = await openProcessService({
  paths: managedPaths(Deno.args[0]),
  fs: osFileSystem,
  log: silentLogger,
  environment: programEnvironment(),
});
service.ensureRunning();
await new Promise((resolve) => setTimeout(resolve, 600_000));
