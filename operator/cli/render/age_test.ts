import { assertEquals } from "@std/assert";
import { age, ageOf, duration, instantWithAge } from "./age.ts";

Deno.test("age() changes its unit when two of the next one are full", () => {
  const cases: readonly (readonly [number, string])[] = [
    [-5, "0s"],
    [0, "0s"],
    [999, "0s"],
    [45_000, "45s"],
    [119_999, "119s"],
    [120_000, "2m"],
    [200_000, "3m"],
    [7_199_999, "119m"],
    [7_200_000, "2h"],
    [172_799_999, "47h"],
    [172_800_000, "2d"],
    [86_400_000 * 800, "800d"],
  ];
  for (const [spanMs, expected] of cases) assertEquals(age(spanMs), expected, `${spanMs} ms`);
});

Deno.test("ageOf() shows a dash for what is no time", () => {
  assertEquals(ageOf(undefined, 0), "-");
  assertEquals(ageOf("soon", 0), "-");
  assertEquals(ageOf("1970-01-01T00:00:00.000Z", 60_000), "60s");
});

Deno.test("duration() has decimals below two minutes only", () => {
  assertEquals([0, 830, 999.6, 4_250, 119_990, 120_000].map(duration), [
    "0ms",
    "830ms",
    "1000ms",
    "4.2s",
    "119.9s",
    "2m",
  ]);
});

Deno.test("instantWithAge() shows both", () => {
  assertEquals(instantWithAge("1970-01-01T00:00:00.000Z", 200_000), "1970-01-01T00:00:00.000Z (3m ago)");
});
