import { assertThrows } from "@std/assert";
import { ARTIFACT_MAX_BYTES } from "../contracts/limits.ts";
import { checkSize } from "./release_folder.ts";

Deno.test("checkSize() takes what an updater takes, and not one byte more", () => {
  checkSize("fleet-agent", ARTIFACT_MAX_BYTES - 1);
  checkSize("fleet-agent", ARTIFACT_MAX_BYTES);
  assertThrows(() => checkSize("fleet-agent", ARTIFACT_MAX_BYTES + 1), Error, "an artifact has at most 104857600");
});
