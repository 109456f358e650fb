/**
 * An HTTPS server for one file, as a program: both sides of a comparison fetch from it, and its work is on no side's
 * account. Prints where it is as one line of JSON; ends when its standard input does, that is with its parent.
 *
 * usage: artifact_server.ts FILE CA_FILE
 *
 * @module
 */
import { startArtifactHost } from "../tests/tls/artifact_host.ts";
import { createTestAuthority } from "../tests/tls/test_authority.ts";

const [file = "", caFile = ""] = Deno.args;
const authority = await createTestAuthority();
await Deno.writeTextFile(caFile, authority.caCert);
await using host = startArtifactHost({ certificate: await authority.issue() });
// From memory: the server must be faster than who is measured.
const url = host.answer("/artifact", { kind: "file", bytes: await Deno.readFile(file), etag: '"1"' });
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ url })}\n`));
await Deno.stdin.readable.pipeTo(new WritableStream());
