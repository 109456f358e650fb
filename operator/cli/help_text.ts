/**
 * Texts of `--help`: what each command is for, and lines to copy.
 *
 * @module
 */
import { EXIT_MEANINGS } from "./exit_code.ts";

/** Text above the commands. */
export const DESCRIPTION = `Drives a fleet of devices through its resources in NATS.

A Device stands for one machine; it appears by itself, without groups, when its agent first reports.
An AgentRelease names a version of the agent, its artifacts, and which devices should run it.
A FleetDeployment names containers, and which devices should run them.
A TaskRun upgrades the operating system of a set of devices once, canaries first.`;

/** Text below the commands. */
export const ROOT_FOOTER = `
First steps:
  fleetctl get devices                          who is there, and is it well
  fleetctl apply -f device-1.yaml               put a device into a group
  fleetctl apply -f release.yaml --dry-run      what would change, on how many devices
  fleetctl apply -f release.yaml                let the devices upgrade
  fleetctl watch devices                        see them do it
  fleetctl release devices NAME --phase failed  who failed
  fleetctl describe device NAME                 why, and what to do next
  fleetctl artifact push FILE oci://…           put an agent into a registry
  fleetctl apply -f web.yaml --dry-run          a deployment: on how many devices containers would change
  fleetctl deployment devices NAME --phase failed
  fleetctl task run NAME --group GROUP --dry-run  a system upgrade: on whom, in which order

Settings of the connection come from options, then from the variables FLEETCTL_SERVERS (several with
commas), FLEETCTL_USER, FLEETCTL_PASSWORD_FILE, FLEETCTL_TOKEN_FILE, FLEETCTL_CREDS_FILE,
FLEETCTL_CA_FILE, then from the file of --config or FLEETCTL_CONFIG: servers, user, passwordFile,
tokenFile, credentialsFile, caFile. Secrets stand in files only: others can see command lines.

Exit codes:
${EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join("\n")}`;

/** Examples of each command, by its name. */
export const EXAMPLES = {
  apply: `
Examples:
  fleetctl apply -f release.yaml --dry-run
  fleetctl apply -f devices.yaml -f release.yaml
  fleetctl get device device-1 -o yaml | sed 's/staging/production/' | fleetctl apply -f -

A document of a release:
  apiVersion: fleet.nationtech.io/v1alpha1
  kind: AgentRelease
  metadata: {name: agent-1-5}
  spec:
    version: 1.5.0
    artifacts:
      - {arch: x86_64, form: compiled, url: "https://…", sha256: "…", maxBytes: 104857600}
    allowedGroups: [production]                 # at least one
    targetSelector: {matchLabels: {site: lab}}  # {} for every device of the groups

A document of a deployment:
  apiVersion: fleet.nationtech.io/v1alpha1
  kind: FleetDeployment
  metadata: {name: web}
  spec:
    allowedGroups: [production]
    targetSelector: {matchLabels: {site: lab}}
    podmanV0:
      containers:
        - {name: app, image: "registry.example/shop/app:1.4", ports: [{containerPort: 8080, hostPort: 80}]}

A document of a task; it starts as soon as it is there, and its spec never changes:
  apiVersion: fleet.nationtech.io/v1alpha1
  kind: TaskRun
  metadata: {name: upgrade-lab}
  spec:
    allowedGroups: [production]
    targetSelector: {matchLabels: {site: lab}}
    deadlineSeconds: 21600
    systemUpgradeV1: {}                         # always empty

A document of a device:
  apiVersion: fleet.nationtech.io/v1alpha1
  kind: Device
  metadata: {name: device-1, labels: {site: lab}}
  spec: {groups: [production]}

Every document is checked before the first is applied. The document says what the spec shall be, with
two exceptions: where it leaves out revision and paused, which 'fleetctl release' sets, the stored ones
stay. Labels are replaced when the document has any, and kept when it has none.`,
  get: `
Examples:
  fleetctl get devices
  fleetctl get devices -l site=lab -l rack=7
  fleetctl get release agent-1-5 -o yaml
  fleetctl get devices -o json | jq -r '.items[] | select(.status.liveness == "Stale") | .metadata.name'
  fleetctl get devices -l site=lab -o name | xargs fleetctl describe`,
  describe: `
Examples:
  fleetctl describe device device-1             its upgrade step by step, its heartbeat, what to do next
  fleetctl describe release agent-1-5
  fleetctl describe deployment web              how many devices are ready, and what is stuck
  fleetctl describe task upgrade-lab            how far it is, and what to do next`,
  watch: `
Examples:
  fleetctl watch devices -l site=lab            a line for every change, until Ctrl-C
  fleetctl watch releases -o json               one JSON object on each line`,
  delete: `
Examples:
  fleetctl delete release agent-1-5             no new attempt of it; what runs is neither stopped nor undone
  fleetctl delete deployment web                every device removes its containers; volumes stay
  fleetctl delete task upgrade-lab              withdraw what no device has accepted; the others go on
  fleetctl delete device device-1               forget it; a device that lives comes back, without groups`,
  releaseDevices: `
Examples:
  fleetctl release devices agent-1-5                  every device that the release decides for
  fleetctl release devices agent-1-5 --phase failed   the ones behind that count, with the reason
  fleetctl release devices agent-1-5 --phase lost -o name | xargs fleetctl describe`,
  deployment: `
Examples:
  fleetctl deployment devices web                     every device that was told to run it
  fleetctl deployment devices web --phase failed      the ones behind that count, with the error
  fleetctl deployment devices web --phase pending -o name | xargs fleetctl describe`,
  release: `
Examples:
  fleetctl release pause agent-1-5              running attempts finish; no new one is started
  fleetctl release resume agent-1-5
  fleetctl release retry agent-1-5              devices where it failed try it again
  fleetctl release devices agent-1-5 --phase failed`,
} as const;
