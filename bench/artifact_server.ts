/**
 * A server for one artifact, as a program: both sides of a comparison fetch from it, and its work is on no side's
 * account. It is an HTTPS host and an open registry in one. Prints where the artifact is as one line of JSON; ends when
 * its standard input does, that is with its parent.
 *
 * usage: artifact_server.ts FILE CA_FILE
 *
 * @module
 */
import { sha256Hex } from "../contracts/digest.ts";
import { agentManifest, OCI_EMPTY_TEXT, OCI_EMPTY_TYPE } from "../contracts/oci_artifact.ts";
import { startArtifactHost } from "../tests/tls/artifact_host.ts";
import { createTestAuthority } from "../tests/tls/test_authority.ts";

const [file = "", caFile = ""] = Deno.args;
const authority = await createTestAuthority();
await Deno.writeTextFile(caFile, authority.caCert);
await using host = startArtifactHost({ certificate: await authority.issue() });
// From memory: the server must be faster than who is measured.
const bytes = await Deno.readFile(file);
const url = host.answer("/artifact", { kind: "file", bytes, etag: '"1"' });
const sha256 = sha256Hex(bytes);
host.answer(`/v2/agent/blobs/sha256:${sha256}`, { kind: "file", bytes, etag: '"1"' });
const agent = { version: "2.0.0", arch: Deno.build.arch, form: "compiled", sizeBytes: bytes.length, sha256 } as const;
const empty = { mediaType: OCI_EMPTY_TYPE, digest: `sha256:${sha256Hex(OCI_EMPTY_TEXT)}`, size: 2 };
const manifest = new TextEncoder().encode(JSON.stringify(agentManifest(agent, empty)));
host.answer("/v2/agent/manifests/2.0.0", { kind: "file", bytes: manifest });
const reference = `${host.origin.replace("https:", "oci:")}/agent:2.0.0`;
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ url, reference })}\n`));
await Deno.stdin.readable.pipeTo(new WritableStream());
