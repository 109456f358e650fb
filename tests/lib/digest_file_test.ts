import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { DIGEST_CHUNK_BYTES } from "../../contracts/limits.ts";
import { digestFile } from "../../lib/digest/sha256_stream.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";

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

Deno.test("digestFile() lets other work run between its chunks and ends with its signal", () =>
  withFile(new Uint8Array(8 * DIGEST_CHUNK_BYTES), async (path) => {
    const controller = new AbortController();
    const reason = new Error("stopping");
    const digest = digestFile(osFileSystem, path, { maxBytes: 100_000_000, signal: controller.signal });
    digest.catch(() => {});
    setTimeout(() => controller.abort(reason), 0);
    assertStrictEquals(await assertRejects(() => digest), reason);
    const aborted = AbortSignal.abort(reason);
    assertStrictEquals(
      await assertRejects(() => digestFile(osFileSystem, path, { maxBytes: 1, signal: aborted })),
      reason,
    );
  }));
