/**
 * Digest of a document: ours over its canonical JSON, theirs over the JSON of the runtime, which is another one for
 * every order of the members.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { canonicalDigest } from "../contracts/digest.ts";
import { compare } from "./comparison.ts";

const SAMPLES = { attempt: "agent_upgrade_attempt.json", status: "agent_upgrade_status_rolled_back.json" };
/** Keeps what is computed alive. */
let characters = 0;

for (const [name, file] of Object.entries(SAMPLES)) {
  const document: unknown = JSON.parse(
    await Deno.readTextFile(new URL(`../tests/golden/wire/${file}`, import.meta.url)),
  );
  compare({
    group: `canonical-digest-${name}`,
    ours: {
      runSync: () => {
        characters += canonicalDigest(document).length;
      },
    },
    theirs: {
      json: {
        runSync: () => {
          characters += createHash("sha256").update(JSON.stringify(document)).digest("hex").length;
        },
      },
    },
  });
}
