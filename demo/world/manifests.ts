/**
 * Documents for `fleetctl apply`, as a person would write them. Pure.
 *
 * @module
 */
import { API_VERSION } from "../../contracts/resource.ts";

/** What a release says. */
export interface ReleaseText {
  readonly name: string;
  readonly version: string;
  readonly url: string;
  readonly sha256: string;
  readonly maxBytes: number;
  readonly group: string;
  /** The one device that it is for; all of the group when it is left out. */
  readonly deviceId?: string;
  /** The highest decides. Default 0 */
  readonly priority?: number;
}

/**
 * Devices with the group that authorizes them.
 *
 * @param deviceIds Their ids
 * @param group The group
 */
export function devicesManifest(deviceIds: readonly string[], group: string): string {
  return deviceIds.map((id) =>
    `apiVersion: ${API_VERSION}
kind: Device
metadata:
  name: ${id}
spec:
  groups: [${group}]
`
  ).join("---\n");
}

/**
 * One release.
 *
 * @param release What it says
 * @param arch Architecture of its artifact
 */
export function releaseManifest(release: ReleaseText, arch: string): string {
  const { name, version, url, sha256, maxBytes, group, deviceId, priority = 0 } = release;
  const selector = deviceId === undefined
    ? "{}  # every device of the group"
    : `{matchLabels: {device-id: ${deviceId}}}`;
  return `apiVersion: ${API_VERSION}
kind: AgentRelease
metadata:
  name: ${name}
spec:
  version: ${version}
  artifacts:
    - arch: ${arch}
      form: script
      url: ${url}
      sha256: "${sha256}"
      maxBytes: ${maxBytes}
  allowedGroups: [${group}]
  targetSelector: ${selector}
  priority: ${priority}
`;
}
