import { assertEquals, assertGreater, assertLess, assertLessOrEqual } from "@std/assert";
import * as limits from "./limits.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("limits of artifacts: what the design fixes", () => {
  assertEquals([limits.OCI_MANIFEST_MAX_BYTES, limits.OCI_REDIRECTS_MAX], [1_048_576, 3]);
});

pure("limits of artifacts: a transfer with progress ends, whatever breaks", () => {
  assertLess(limits.FETCH_PROGRESS_MIN_BYTES, limits.ARTIFACT_MAX_BYTES);
  // Each connection that counts brings so much, and there are so many between two of them.
  const connections = limits.ARTIFACT_MAX_BYTES / limits.FETCH_PROGRESS_MIN_BYTES * limits.FETCH_RESUMES_MAX;
  assertLessOrEqual(connections, 4_000);
});

pure("limits of artifacts: a reference of the longest names is a URL that fits an attempt", () => {
  const longest = "oci://".length + 253 + ":65535/".length + limits.OCI_REPOSITORY_MAX_CHARS +
    "@sha256:".length + 64;
  assertLess(longest, limits.ARTIFACT_URL_MAX_CHARS);
  assertLess(longest - 64 + limits.OCI_TAG_MAX_CHARS, limits.ARTIFACT_URL_MAX_CHARS);
});

pure("limits of artifacts: what a registry says fits where it is read", () => {
  assertLess(limits.OCI_TOKEN_MAX_CHARS, limits.OCI_TOKEN_ANSWER_MAX_BYTES);
  // A token goes into one line of a request.
  assertLess(limits.OCI_TOKEN_MAX_CHARS, 8_192 - "authorization: Bearer ".length);
});

pure("limits of artifacts: an upload's pieces and times", () => {
  assertLess(limits.PUSH_PIECE_BYTES, limits.PUSH_PIECE_MAX_BYTES);
  assertLess(limits.PUSH_PIECE_MAX_BYTES, limits.ARTIFACT_MAX_BYTES);
  assertLess(limits.FETCH_RESUME_MIN_MS, limits.FLEETCTL_REPEAT_MAX_MS);
  assertLess(limits.FLEETCTL_REPEAT_MAX_MS, limits.FETCH_RESUME_MAX_MS);
  assertLess(limits.PUSH_REQUEST_TIMEOUT_MS, limits.PUSH_TIMEOUT_MS);
  // A whole push has time for all files at the rate that one piece is allowed.
  const bytesPerMs = 50 * 1_024 / 1_000;
  assertGreater(limits.PUSH_TIMEOUT_MS * bytesPerMs, limits.PUSH_FILES_MAX * 85 * 1_048_576);
});
