/**
 * Every state in which a power cut may leave a simulated disk.
 *
 * A state is a series of choices: for each name of each directory, what it stands for; for each file that is still
 * named, what is in it. Choosing is separated from building: the same builder runs with choices that count through all
 * of them, or with random ones.
 *
 * @module
 */
import {
  BLOCK_BYTES,
  contentsAfterCrash,
  type DirectoryNode,
  type DiskNode,
  namesAfterCrash,
  newDirectory,
  nodesAfterCrash,
} from "./memory_disk.ts";
import { seededRandom } from "./seeded_random.ts";

/** Picks one of `count` possibilities: 0 is the oldest, `count - 1` the newest. */
type Choose = (count: number) => number;

/** Builds what is left of a node; two names of one node stay two names of one node. */
function survivor<T extends DiskNode>(node: T, choose: Choose, built: Map<DiskNode, DiskNode>): T {
  const known = built.get(node);
  if (known !== undefined) return known as T;
  let left: DiskNode;
  if (node.kind === "file") {
    const contents = contentsAfterCrash(node);
    const content = contents[choose(contents.length)] ?? node.durable;
    const blocks = Math.ceil(content.byteLength / BLOCK_BYTES);
    left = { ...node, content, durable: content, afterCrash: null, blocks };
  } else if (node.kind === "directory") left = directorySurvivor(node, choose, built);
  else left = { ...node };
  built.set(node, left);
  return left as T;
}

function directorySurvivor(node: DirectoryNode, choose: Choose, built: Map<DiskNode, DiskNode>): DirectoryNode {
  const left = newDirectory(node.mode, node.uid, node.gid);
  for (const name of namesAfterCrash(node)) {
    const nodes = nodesAfterCrash(node, name);
    const chosen = nodes[choose(nodes.length)] ?? null;
    if (chosen !== null) left.entries.set(name, survivor(chosen, choose, built));
  }
  left.durable = new Map(left.entries);
  return left;
}

interface Digit {
  value: number;
  readonly count: number;
}

/** Counts through all series of choices, though how many there are depends on earlier ones. */
class Odometer {
  #digits: Digit[] = [];
  #position = 0;

  readonly choose: Choose = (count) => {
    if (count === 1) return 0;
    const digit = this.#digits[this.#position] ?? { value: 0, count };
    this.#digits[this.#position++] = digit;
    return digit.value;
  };

  /** Moves on to the next series. @returns false when there is none */
  next(): boolean {
    this.#digits.length = this.#position;
    this.#position = 0;
    for (let last = this.#digits.at(-1); last !== undefined; last = this.#digits.at(-1)) {
      if (++last.value < last.count) return true;
      this.#digits.pop();
    }
    return false;
  }
}

/** Bounds of an enumeration. */
export interface CrashStateOptions {
  /** Most states; where there are more, a random sample of this size is taken. Default 4,096. */
  readonly limit?: number;
  /** Seed of the sample. Default 1. */
  readonly seed?: number;
}

/** States that a power cut may leave. */
export interface CrashTrees extends Iterable<DirectoryNode> {
  /** How many there are to iterate over. */
  readonly count: number;
  /** Whether these are all, or a sample. */
  readonly exhaustive: boolean;
}

function* everyTree(root: DirectoryNode): Iterator<DirectoryNode> {
  const odometer = new Odometer();
  do yield survivor(root, odometer.choose, new Map()); while (odometer.next());
}

/** The oldest and the newest state, then random ones. */
function* sampledTrees(root: DirectoryNode, limit: number, seed: number): Iterator<DirectoryNode> {
  const random = seededRandom(seed);
  const chooses: Choose[] = [() => 0, (count) => count - 1];
  for (let index = 0; index < limit; index++) {
    yield survivor(root, chooses[index] ?? ((count) => Math.floor(random() * count)), new Map());
  }
}

/**
 * The states that a power cut may leave.
 *
 * @param root The disk; must not change while the states are iterated over
 * @param options Size and seed of a sample
 */
export function crashTrees(root: DirectoryNode, options: CrashStateOptions = {}): CrashTrees {
  const { limit = 4_096, seed = 1 } = options;
  const odometer = new Odometer();
  let count = 0;
  do {
    survivor(root, odometer.choose, new Map());
    count++;
  } while (count <= limit && odometer.next());
  const exhaustive = count <= limit;
  const iterate = () => exhaustive ? everyTree(root) : sampledTrees(root, limit, seed);
  return { count: Math.min(count, limit), exhaustive, [Symbol.iterator]: iterate };
}
