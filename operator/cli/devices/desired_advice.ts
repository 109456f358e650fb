/**
 * What to do when no release reaches a device, or its release does not fit.
 *
 * @module
 */
import type { DeviceStatus } from "../../../contracts/device_resource.ts";
import { INTENT_PENDING_WARNING_MS } from "../../../contracts/limits.ts";
import type { Advice } from "../advice.ts";
import { age } from "../render/age.ts";
import type { DeviceView } from "./device_view.ts";

/**
 * Lists what keeps the device from its release.
 *
 * @param view Everything that is known of it
 * @param status Its status
 */
export function releaseStepsFor(view: DeviceView, status: DeviceStatus): Advice[] {
  const { desiredReason } = status;
  if (desiredReason === undefined || status.quarantined) return [];
  const make = ADVICE[desiredReason];
  const advice = make?.(view, status);
  return advice === undefined ? [] : [{ code: desiredReason, ...advice }];
}

type Make = (view: DeviceView, status: DeviceStatus) => Omit<Advice, "code"> | undefined;

const ADVICE: Readonly<Record<string, Make>> = {
  NoGroups: ({ device: { metadata } }) => ({
    problem: "It is in no group, so that nothing may be placed on it",
    steps: [
      `fleetctl get device ${metadata.name} -o yaml > ${metadata.name}.yaml   # write spec.groups`,
      `fleetctl apply -f ${metadata.name}.yaml --dry-run`,
      `fleetctl apply -f ${metadata.name}.yaml`,
    ],
  }),
  NoRelease: ({ device: { spec } }) => ({
    problem: `No release names one of its groups (${spec.groups.join(", ")}) and matches its labels`,
    steps: ["compare allowedGroups and targetSelector: fleetctl get releases -o yaml"],
  }),
  Conflict: (_view, { tiedReleases = [] }) => ({
    problem: `Releases of the same priority exclude one another: ${tiedReleases.join(", ")}; none is installed`,
    steps: ["give the one that shall win a higher spec.priority, or narrow a targetSelector, and apply it"],
  }),
  ReleaseUnreadable: () => ({
    problem: "The release that decided for it stands in the store and cannot be read; the device stays as it is",
    steps: ["fleetctl get releases names it; delete it and apply it again, or bring fleet-operator up to date"],
  }),
  SourceForm: () => ({
    problem: "Its agent runs from a work tree, which takes no upgrade",
    steps: ["set the device up with an installed agent"],
  }),
  NoArtifact: (_view, { desiredRelease = "NAME", arch, form }) => ({
    problem: `Release ${desiredRelease} has no artifact for ${arch ?? "its architecture"} in the form ${
      form ?? "unknown"
    }`,
    steps: [`add one: fleetctl get release ${desiredRelease} -o yaml, spec.artifacts`],
  }),
  UpdaterTooOld: (_view, { updaterVersion, capabilities = [] }) => ({
    problem: `Its updater ${updaterVersion ?? ""} fetches ${capabilities.join(", ") || "nothing"}, and the release's ` +
      "artifact stands elsewhere",
    steps: ["set the device up again, which replaces the updater; or give the release an https URL"],
  }),
  UpdaterUnavailable: (_view, { step }) =>
    // The step says the same, with more.
    step === "updater" ? undefined : {
      problem: "The agent cannot reach its updater",
      steps: [
        "on the device, as root: systemctl status fleet-updater",
        "a corrupt journal keeps its socket closed and says so: fleet-updater status, then fleet-updater repair",
      ],
    },
  Paused: (_view, { desiredRelease = "NAME" }) => ({
    problem: `Release ${desiredRelease} is paused`,
    steps: [`fleetctl release resume ${desiredRelease}`],
  }),
  NoDeviceInfo: () => ({
    problem: "No agent has reported under this name",
    steps: ["does the name equal deviceId in the device's /etc/harmony-fleet/agent.json?"],
  }),
  Pending: ({ upgradeIntent, heartbeat, nowMs }, { liveness }) => {
    if (upgradeIntent.kind !== "value" || liveness !== "Online") return undefined;
    if (heartbeat.kind === "value" && heartbeat.value.deferred !== undefined) return undefined;
    const waitsMs = nowMs - upgradeIntent.receivedAtMs;
    // The agent looks at its key at once; what has just been written needs no advice.
    if (waitsMs < INTENT_PENDING_WARNING_MS) return undefined;
    return {
      problem: `An attempt waits for it since ${age(waitsMs)}, and it has not taken it`,
      steps: ["on its console: journalctl -u fleet-agent --since -10m"],
    };
  },
};
