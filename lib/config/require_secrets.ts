/**
 * Looks at the secrets that a configuration names, so that a wrong mode is one clear line at the start and not a login
 * that fails later.
 *
 * @module
 */
import { errorText } from "../../contracts/errors.ts";
import { SECRET_FILE_MAX_BYTES } from "../../contracts/limits.ts";
import { ConfigError } from "./read_config.ts";
import { guardedFileFault, MODE_WORLD_ANY, readGuardedFile } from "./read_guarded_file.ts";

/**
 * Requires that every secret file can be read and holds something.
 *
 * @param configPath The configuration that names them
 * @param files The files, each with the field that names it
 * @throws {ConfigError} With a line for each problem that names the field; `environment` unless this program refuses
 * what one of them holds
 */
export async function requireSecrets(
  configPath: string,
  files: readonly { readonly field: string; readonly path: string }[],
): Promise<void> {
  const problems: string[] = [];
  let failureClass: "environment" | "version" = "environment";
  for (const { field, path } of files) {
    try {
      const bytes = await readGuardedFile(path, {
        what: "the secret",
        maxBytes: SECRET_FILE_MAX_BYTES,
        forbiddenMode: MODE_WORLD_ANY,
      });
      // Nobody can log in with an empty one: the site has not put it there yet.
      if (new TextDecoder().decode(bytes).trim() === "") problems.push(`${field}: ${path} is empty`);
    } catch (error) {
      problems.push(`${field}: ${errorText(error)}`);
      if (guardedFileFault(error) === "version") failureClass = "version";
    }
  }
  if (problems.length > 0) throw new ConfigError(configPath, problems, failureClass);
}
