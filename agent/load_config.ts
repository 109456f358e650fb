/**
 * Loads the configuration with the files that it names.
 *
 * @module
 */
import { natsSecretFiles } from "../lib/bus/nats_settings.ts";
import { readConfig } from "../lib/config/read_config.ts";
import { requireSecrets } from "../lib/config/require_secrets.ts";
import { type AgentConfig, agentConfig } from "./config.ts";

/**
 * Loads a configuration. Unknown members are told, not refused: the agent before a rollback must read what was written
 * for the one after it (`Fleet agent upgrades`, Limits). It looks at each secret that it names, so that a wrong mode is one
 * clear line at the start and not a login that fails later.
 *
 * @param path Path of `agent.json`
 * @param onUnknown Takes one line for each unknown member
 * @throws {ConfigError} With every problem; `environment` when a file is missing or cannot be read
 */
export async function loadConfig(path: string, onUnknown: (line: string) => void): Promise<AgentConfig> {
  const config = await readConfig(path, agentConfig, { onUnknown });
  await requireSecrets(path, natsSecretFiles(config.nats));
  return config;
}
