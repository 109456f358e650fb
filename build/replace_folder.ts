/**
 * Makes a folder whole or not at all: beside its place, then renamed.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";

/** How {@link replaceFolder} tells a folder of ours, which may be replaced, from one that somebody else made. */
export interface ReplaceFolderOptions {
  /** A file that every such folder holds. */
  readonly mark: string;
}

/**
 * Fills a new folder and puts it where the old one stood. What an earlier run that was killed left behind goes.
 *
 * @param folder The place
 * @param options What makes an existing folder replaceable
 * @param fill Fills a folder that is there and empty
 * @throws {Error} when there is a folder with files and without the mark; nothing is changed then
 */
export async function replaceFolder(
  folder: string,
  { mark }: ReplaceFolderOptions,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  await refuseForeign(folder, mark);
  await Deno.mkdir(dirname(folder), { recursive: true });
  await removeLeftovers(folder);
  const building = `${folder}.building-${Deno.pid}`;
  await Deno.mkdir(building);
  try {
    await fill(building);
    const old = `${folder}.old-${Deno.pid}`;
    await ignoreMissing(() => Deno.rename(folder, old));
    await Deno.rename(building, folder);
    await ignoreMissing(() => Deno.remove(old, { recursive: true }));
  } catch (error) {
    await ignoreMissing(() => Deno.remove(building, { recursive: true }));
    throw error;
  }
}

async function refuseForeign(folder: string, mark: string): Promise<void> {
  let names: string[] = [];
  await ignoreMissing(() => {
    names = [...Deno.readDirSync(folder)].map(({ name }) => name);
    return Promise.resolve();
  });
  if (names.length > 0 && !names.includes(mark)) {
    throw new Error(`Cannot replace ${folder}: it holds files and no ${mark}, so it is no earlier result`);
  }
}

async function removeLeftovers(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.`;
  for (const { name } of [...Deno.readDirSync(dirname(folder))]) {
    const pid = /^(?:building|old)-([0-9]+)$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : "")?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) {
      await ignoreMissing(() => Deno.remove(join(dirname(folder), name), { recursive: true }));
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return false;
  }
}

async function ignoreMissing(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
