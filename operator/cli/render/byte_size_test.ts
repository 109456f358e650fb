import { assertEquals } from "@std/assert";
import { byteSize } from "./byte_size.ts";

Deno.test("byteSize() changes its unit at 1024", () => {
  const sizes = [0, 1, 1_023, 1_024, 104_857_600, 1_048_575, 3 * 1_024 ** 4, 5_000 * 1_024 ** 5];
  assertEquals(sizes.map(byteSize), [
    "0 B",
    "1 B",
    "1023 B",
    "1.0 KiB",
    "100.0 MiB",
    "1.0 MiB",
    "3.0 TiB",
    "5000.0 PiB",
  ]);
});
