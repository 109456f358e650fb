/**
 * Looks at the secrets that a configuration names, so that a wrong mode is one clear line at the start and not a login
 * that fails later.
 *
 * @module
 */
import { errorText } from "../../contracts/errors.ts";
import { SECRET_FILE_MAX_BYTES } from "../../contracts/limits.ts";
import { MODE_WORLD_ANY, readGuardedFile } from "./read_guarded_file.ts";

/**
 * Lists what is wrong with secret files; each problem is one line that names the field.
 *
 * @param files The files, each with the field that names it
 */
export async function secretProblems(
  files: readonly { readonly field: string; readonly path: string }[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const { field, path } of files) {
    try {
      const bytes = await readGuardedFile(path, {
        what: "the secret",
        maxBytes: SECRET_FILE_MAX_BYTES,
        forbiddenMode: MODE_WORLD_ANY,
      });
      if (new TextDecoder().decode(bytes).trim() === "") problems.push(`${field}: ${path} is empty`);
    } catch (error) {
      problems.push(`${field}: ${errorText(error)}`);
    }
  }
  return problems;
}
