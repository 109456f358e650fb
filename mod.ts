/**
 * What other tools need to speak with a Harmony fleet: the wire documents with their strict decoders, limits, bucket
 * keys and subjects, and the parts of the library that need nothing but the runtime. No package is reached from here.
 *
 * `docs/wire.md` describes the same documents for other languages.
 *
 * @example Read an attempt, and name what is wrong with a bad one
 * ```ts
 * import { agentUpgradeAttempt, ATTEMPT_MAX_BYTES, canonicalDigest, decodeBytes, FleetError } from "./mod.ts";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const document = {
 *   schema: 1,
 *   attemptId: "0197b3a2-4f6c-7d11-8a55-6f2f4f0d9a11",
 *   deviceId: "device-1",
 *   targetVersion: "1.4.0",
 *   arch: "x86_64",
 *   artifact: { url: "https://artifacts.example/fleet-agent", maxBytes: 1_048_576, sha256: "0".repeat(64) },
 * };
 * const bytes = new TextEncoder().encode(JSON.stringify(document));
 *
 * assertEquals(decodeBytes(agentUpgradeAttempt, bytes, ATTEMPT_MAX_BYTES), document);
 * assertEquals(canonicalDigest(document).length, 64);
 *
 * const bad = assertThrows(() => agentUpgradeAttempt({ ...document, targetVersion: "../1.4.0" }, ""), FleetError);
 * assertEquals(bad.message, "targetVersion: is not a semantic version such as 1.4.0");
 * ```
 *
 * @module
 */

export * from "./contracts/agent_release.ts";
export * from "./contracts/agent_upgrade.ts";
export * from "./contracts/buckets.ts";
export * from "./contracts/canonical_json.ts";
export * from "./contracts/codec.ts";
export * from "./contracts/decode_problems.ts";
export * from "./contracts/deployment_status.ts";
export * from "./contracts/desired_state.ts";
export * from "./contracts/device.ts";
export * from "./contracts/device_groups.ts";
export * from "./contracts/device_permissions.ts";
export * from "./contracts/device_resource.ts";
export * from "./contracts/digest.ts";
export * from "./contracts/errors.ts";
export * from "./contracts/fleet_deployment.ts";
export {
  absolutePath,
  type Architecture,
  architecture,
  ARCHITECTURES,
  BINARY_FORMS,
  type BinaryForm,
  binaryForm,
  bounded,
  detail,
  deviceId,
  groupName,
  groups,
  instant,
  labels,
  reason,
  resourceName,
  // The digest function has this name; here it is the text of a digest.
  sha256Hex as sha256Text,
  shortText,
  uuid,
  version,
} from "./contracts/formats.ts";
export * from "./contracts/limits.ts";
export * from "./contracts/managed_paths.ts";
export * from "./contracts/oci_artifact.ts";
export * from "./contracts/oci_reference.ts";
export * from "./contracts/placement.ts";
export * from "./contracts/podman_workload.ts";
export * from "./contracts/readiness.ts";
export * from "./contracts/release_identity.ts";
export * from "./contracts/resource.ts";
export * from "./contracts/self_test_report.ts";
export * from "./contracts/subjects.ts";
export * from "./contracts/system_upgrade.ts";
export * from "./contracts/task_plan.ts";
export * from "./contracts/task_run.ts";
export * from "./contracts/unknown_members.ts";
export * from "./contracts/updater_protocol.ts";

export * from "./lib/deadline.ts";
export * from "./lib/digest/sha256_stream.ts";
export * from "./lib/durable/file_system.ts";
export * from "./lib/durable/file_system_error.ts";
export * from "./lib/durable/make_directory.ts";
export * from "./lib/durable/os_file_system.ts";
export * from "./lib/durable/process_lock.ts";
export { replaceFile, type ReplaceFileOptions, replaceFileWith } from "./lib/durable/replace_file.ts";
export * from "./lib/durable/replace_link.ts";
export type { TempSuffix } from "./lib/durable/temp_name.ts";
export * from "./lib/journal/journal_codec.ts";
export * from "./lib/log.ts";
export * from "./lib/systemd/notification.ts";
export * from "./lib/systemd/notify.ts";
export * from "./lib/systemd/notify_receiver.ts";
export * from "./lib/unix/exchange.ts";
