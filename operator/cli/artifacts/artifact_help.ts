/**
 * Texts of `--help` for the commands about artifacts.
 *
 * @module
 */

/** Examples of each command, by its name. */
export const ARTIFACT_EXAMPLES = {
  artifact: `
Examples:
  fleetctl artifact push fleet-agent oci://registry.example/fleet/agent:1.5.0 --agent-version 1.5.0
  fleetctl artifact inspect oci://registry.example/fleet/agent:1.5.0`,
  push: `
Examples:
  fleetctl artifact push bin/x86_64/fleet-agent bin/aarch64/fleet-agent \\
    oci://registry.example/fleet/agent:1.5.0 --agent-version 1.5.0
  fleetctl artifact push bin/script/fleet-agent oci://registry.example/fleet/agent:1.5.0-script \\
    --agent-version 1.5.0 --arch x86_64
  FLEETCTL_REGISTRY_PASSWORD=… fleetctl artifact push --registry-user ci …

What it is and for which architecture is read from the file. Several architectures become an index, from
which each device takes its own. The same files give the same digests, and what the registry has already is
not sent again: an interrupted push is simply repeated. A tag that names another artifact is left alone
without --force: releases that name it would fail on every device.

The output ends with the artifacts of an AgentRelease, pinned by digest. Devices pull without a login and
over https only: the repository must be readable for everybody who can reach it.

Variables: FLEETCTL_REGISTRY_USER, FLEETCTL_REGISTRY_PASSWORD or FLEETCTL_REGISTRY_PASSWORD_FILE,
FLEETCTL_REGISTRY_AUTH_FILE, FLEETCTL_REGISTRY_CA_FILE; proxies from HTTPS_PROXY and NO_PROXY.`,
  inspect: `
Examples:
  fleetctl artifact inspect oci://registry.example/fleet/agent:1.5.0
  fleetctl artifact inspect https://artifacts.example/fleet-agent-1.5.0 -o json | jq .artifacts
  fleetctl artifact inspect oci://registry.example/fleet/agent@sha256:… || echo "do not release it"

Fetches every byte with the code that devices run, without a login: media types, digests, sizes, redirects,
architecture. Exit code 8 says that a device would refuse it; the output says why.`,
} as const;
