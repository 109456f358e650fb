import { assertEquals } from "@std/assert";
import { BUCKET_SPECS, bucketMaxBytes } from "../../contracts/buckets.ts";
import { bucketStreamConfig, compareStreamConfig } from "./ensure_buckets.ts";

const FLEET_SIZE = 100;

Deno.test({
  name: "every bucket keeps one value per key, within its bytes, refuses when full, and cannot be rolled up",
  permissions: "none",
  fn() {
    for (const spec of BUCKET_SPECS) {
      const config = bucketStreamConfig(spec, FLEET_SIZE, 3);
      assertEquals(config.name, `KV_${spec.name}`);
      assertEquals(config.subjects, [`$KV.${spec.name}.>`]);
      assertEquals(config.storage, spec.storage);
      assertEquals(config.num_replicas, 3);
      assertEquals(config.max_msgs_per_subject, 1);
      assertEquals(config.max_bytes, bucketMaxBytes(spec, FLEET_SIZE));
      assertEquals(config.max_msg_size, spec.maxValueBytes);
      assertEquals(config.discard, "new");
      assertEquals(config.allow_direct, true);
      assertEquals(config.allow_rollup_hdrs, false);
    }
  },
});

Deno.test({
  name: "compareStreamConfig() tells what may be updated from what may not, and takes what the server leaves out",
  permissions: "none",
  fn() {
    const [spec] = BUCKET_SPECS;
    if (spec === undefined) throw new Error("no buckets");
    const want = bucketStreamConfig(spec, FLEET_SIZE, 1);
    assertEquals(compareStreamConfig(want, want), { changed: [], fixed: [] });
    const { allow_rollup_hdrs: _left, max_age: _out, ...sparse } = want;
    const stored = { ...sparse, duplicate_window: 120, sealed: false };
    assertEquals(compareStreamConfig(stored, want), { changed: [], fixed: [] });
    assertEquals(compareStreamConfig({ ...want, max_bytes: 1, num_replicas: 3, allow_rollup_hdrs: true }, want), {
      changed: ["num_replicas", "max_bytes", "allow_rollup_hdrs"],
      fixed: [],
    });
    assertEquals(compareStreamConfig({ ...want, storage: "memory", deny_delete: false }, want).fixed, [
      "storage",
      "deny_delete",
    ]);
  },
});
