import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Space, SPACE_RESERVES, type SpacePath, spaceProblem } from "./space_rule.ts";

const { rootBytes, varBytes, bootBytes } = SPACE_RESERVES;

function one(path: SpacePath, freeBytes: number, device = 1): Space {
  return { path, freeBytes, device };
}

function fits(spaces: readonly Space[], archiveBytes = 0): boolean {
  return spaceProblem(spaces, archiveBytes) === undefined;
}

Deno.test("spaceProblem() at its limits, on a disk of one file system", () => {
  const whole = (freeBytes: number) =>
    (["/", "/usr", "/var", "/var/cache/apt/archives", "/boot"] as const).map((path) => one(path, freeBytes));
  const needed = rootBytes + varBytes;
  assertEquals([-1, 0, 1].map((bytes) => fits(whole(needed + bytes))), [false, true, true]);
  // Five times the archives unpacked, and the archives themselves.
  assertEquals([-1, 0, 1].map((bytes) => fits(whole(needed + 600 + bytes), 100)), [false, true, true]);
});

Deno.test("spaceProblem() asks every file system for its own part", () => {
  const free = 10 * rootBytes;
  const spaces = (varFree: number, bootFree: number) => [
    one("/", free, 1),
    one("/var", varFree, 2),
    one("/boot", bootFree, 3),
    one("/boot/firmware", bootFree, 3),
  ];
  assertEquals([-1, 0, 1].map((bytes) => fits(spaces(varBytes + bytes, free))), [false, true, true]);
  assertEquals([-1, 0, 1].map((bytes) => fits(spaces(free, bootBytes + bytes))), [false, true, true]);
  assertStringIncludes(spaceProblem(spaces(free, bootBytes - 1), 0) ?? "", "/boot: ");
});
