import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { DIGEST_CHUNK_BYTES } from "../../contracts/limits.ts";
import { digestFile } from "../../lib/digest/sha256_stream.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";

async function withFile(bytes: Uint8Array, run: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile({ prefix: "digest-" });
  try {
    await Deno.writeFile(path, bytes);
    await run(path);
  } finally {
    await Deno.remove(path);
  }
}

for (const sizeBytes of [0, 1, DIGEST_CHUNK_BYTES - 1, DIGEST_CHUNK_BYTES, DIGEST_CHUNK_BYTES + 1, 3_500_000]) {
  Deno.test(`digestFile() of ${sizeBytes} bytes`, () => {
    const bytes = Uint8Array.from({ length: sizeBytes }, (_, index) => (index * 7) & 0xff);
    return withFile(bytes, async (path) => {
      const digest = await digestFile(osFileSystem, path, { maxBytes: sizeBytes });
      assertEquals(digest, { sha256: sha256Hex(bytes), sizeBytes });
      if (sizeBytes === 0) return;
      const error = await assertRejects(() => digestFile(osFileSystem, path, { maxBytes: sizeBytes - 1 }));
      assert(isFleetError(error, "E_BYTE_LIMIT"));
    });
  });
}

Deno.test("digestFile() of nothing is null", async () => {
  assertEquals(await digestFile(osFileSystem, "/nowhere/at/all", { maxBytes: 1 }), null);
});

Deno.test("digestFile() lets other work run between its chunks", () =>
  withFile(new Uint8Array(64 * DIGEST_CHUNK_BYTES), async (path) => {
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await digestFile(osFileSystem, path, { maxBytes: 100_000_000 });
    clearInterval(counting);
    assert(turns > 0);
  }));

Deno.test("digestFile() ends with its signal", async () => {
  const reason = new Error("stopping");
  const controller = new AbortController();
  let chunks = 0;
  const fs = new MemoryFileSystem();
  fs.readChunks = async () =>
    (async function* () {
      for (;; chunks++) {
        if (chunks === 3) controller.abort(reason);
        yield new Uint8Array(1);
      }
    })();
  const bounds = { maxBytes: 100, signal: controller.signal };
  assertStrictEquals(await assertRejects(() => digestFile(fs, "/f", bounds)), reason);
  assertEquals(chunks, 3);
  assertStrictEquals(await assertRejects(() => digestFile(fs, "/f", bounds)), reason);
  assertEquals(chunks, 3);
});
