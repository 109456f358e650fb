/**
 * Loads the configuration with the files that it names.
 *
 * @module
 */
import { natsSecretFiles } from "../lib/bus/nats_settings.ts";
import { readConfig } from "../lib/config/read_config.ts";
import { requireSecrets } from "../lib/config/require_secrets.ts";
import { type OperatorConfig, operatorConfig } from "./config.ts";

/**
 * Loads a configuration, and looks at each secret that it names.
 *
 * @param path Path of `operator.json`
 * @throws {ConfigError} With every problem
 */
export async function loadConfig(path: string): Promise<OperatorConfig> {
  const config = await readConfig(path, operatorConfig);
  await requireSecrets(path, natsSecretFiles(config.nats));
  return config;
}
