/**
 * Loads the configuration with the files that it names.
 *
 * @module
 */
import { errorText } from "../contracts/errors.ts";
import { SECRET_FILE_MAX_BYTES } from "../contracts/limits.ts";
import { ConfigError, readConfig } from "../lib/config/read_config.ts";
import { MODE_WORLD_ANY, readGuardedFile } from "../lib/config/read_guarded_file.ts";
import { type AgentConfig, agentConfig, secretFiles } from "./config.ts";

/**
 * Loads a configuration, and looks at each secret that it names, so that a wrong mode is one clear line at the start and
 * not a login that fails later.
 *
 * @param path Path of `agent.json`
 * @throws {ConfigError} With every problem
 */
export async function loadConfig(path: string): Promise<AgentConfig> {
  const config = await readConfig(path, agentConfig);
  const problems: string[] = [];
  for (const secret of secretFiles(config)) {
    try {
      const bytes = await readGuardedFile(secret.path, {
        what: "the secret",
        maxBytes: SECRET_FILE_MAX_BYTES,
        forbiddenMode: MODE_WORLD_ANY,
      });
      if (new TextDecoder().decode(bytes).trim() === "") problems.push(`${secret.field}: ${secret.path} is empty`);
    } catch (error) {
      problems.push(`${secret.field}: ${errorText(error)}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(path, problems);
  return config;
}
