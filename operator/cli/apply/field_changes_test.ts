import { assertEquals } from "@std/assert";
import { fieldChanges, fieldChangeText } from "./field_changes.ts";

const lines = (from: unknown, to: unknown) => fieldChanges(from, to, "spec").map(fieldChangeText);
const artifact = (arch: string, sha256: string) => ({ arch, form: "script", sha256 });

Deno.test("fieldChanges() is empty for equal values, whatever the order of members", () => {
  assertEquals(lines({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 }), []);
  assertEquals(lines(undefined, undefined), []);
});

Deno.test("fieldChanges() names what is changed, added and removed", () => {
  assertEquals(
    lines({ version: "1.4.0", paused: true, groups: ["a"], gone: {} }, {
      version: "1.5.0",
      paused: true,
      groups: ["a", "b"],
      new: { x: 1 },
    }),
    [
      '~ spec.version: "1.4.0" -> "1.5.0"',
      '~ spec.groups: ["a"] -> ["a","b"]',
      '+ spec.new: {"x":1}',
      "- spec.gone: {}",
    ],
  );
});

Deno.test("fieldChanges() compares artifacts by architecture and form, not by place", () => {
  const before = { artifacts: [artifact("x86_64", "a"), artifact("aarch64", "b")] };
  assertEquals(lines(before, { artifacts: [artifact("aarch64", "b"), artifact("x86_64", "a")] }), []);
  assertEquals(lines(before, { artifacts: [artifact("aarch64", "c")] }), [
    '~ spec.artifacts[aarch64/script].sha256: "b" -> "c"',
    '- spec.artifacts[x86_64/script]: {"arch":"x86_64","form":"script","sha256":"a"}',
  ]);
  assertEquals(lines({}, before), [
    '+ spec.artifacts[x86_64/script]: {"arch":"x86_64","form":"script","sha256":"a"}',
    '+ spec.artifacts[aarch64/script]: {"arch":"aarch64","form":"script","sha256":"b"}',
  ]);
});

Deno.test("fieldChanges() shows a whole value where the types differ", () => {
  assertEquals(lines({ a: [1] }, { a: { b: 1 } }), ['~ spec.a: [1] -> {"b":1}']);
  assertEquals(lines(undefined, { a: 1 }), ['+ spec: {"a":1}']);
});

Deno.test("fieldChanges() compares containers by name, and tells when their order changes", () => {
  const container = (name: string, image: string, more: object = {}) => ({ name, image, ...more });
  const workload = (...containers: unknown[]) => ({ podmanV0: { containers } });
  const before = workload(container("app", "r/app:1", { env: { A: "1" } }), container("db", "r/db:1"));
  assertEquals(lines(before, before), []);
  assertEquals(lines({}, before), [
    '+ spec.podmanV0.containers[app]: {"name":"app","image":"r/app:1","env":{"A":"1"}}',
    '+ spec.podmanV0.containers[db]: {"name":"db","image":"r/db:1"}',
  ]);
  assertEquals(lines(before, workload(container("db", "r/db:1"), container("app", "r/app:2", { env: { A: "2" } }))), [
    '~ spec.podmanV0.containers.order: ["app","db"] -> ["db","app"]',
    '~ spec.podmanV0.containers[app].image: "r/app:1" -> "r/app:2"',
    '~ spec.podmanV0.containers[app].env.A: "1" -> "2"',
  ]);
  assertEquals(lines(before, workload(container("new", "r/new:1"), container("db", "r/db:1"))), [
    '+ spec.podmanV0.containers[new]: {"name":"new","image":"r/new:1"}',
    '- spec.podmanV0.containers[app]: {"name":"app","image":"r/app:1","env":{"A":"1"}}',
  ]);
});
