/**
 * A container as Podman's API takes it (`SpecGenerator`, Podman 4 and 5).
 *
 * @module
 */
import type { ContainerSpec, EngineVolume } from "./port.ts";

const NETWORKS = { host: "host", bridge: "bridge", none: "none", private: "private" } as const;

function mountOptions({ readOnly }: EngineVolume): string[] {
  return [readOnly ? "ro" : "rw"];
}

/**
 * The body of a request that makes a container.
 *
 * @param spec The container
 */
export function specGenerator(spec: ContainerSpec): Record<string, unknown> {
  const binds = spec.volumes.filter(({ type }) => type === "bind");
  const named = spec.volumes.filter(({ type }) => type === "named");
  return {
    name: spec.name,
    image: engineReference(spec.image),
    labels: spec.labels,
    env: spec.env,
    restart_policy: spec.restartPolicy,
    stop_timeout: spec.stopTimeoutS,
    ...(spec.entrypoint === undefined ? {} : { entrypoint: spec.entrypoint }),
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.user === undefined ? {} : { user: spec.user }),
    ...(spec.networkMode === undefined ? {} : { netns: { nsmode: NETWORKS[spec.networkMode] } }),
    ...(spec.ports.length === 0 ? {} : {
      portmappings: spec.ports.map(({ containerPort, hostIp, hostPort, protocol }) => ({
        container_port: containerPort,
        host_port: hostPort,
        protocol,
        ...(hostIp === "" ? {} : { host_ip: hostIp }),
      })),
    }),
    ...(binds.length === 0 ? {} : {
      mounts: binds.map((volume) => ({
        type: "bind",
        source: volume.source,
        destination: volume.target,
        options: ["rbind", ...mountOptions(volume)],
      })),
    }),
    ...(named.length === 0 ? {} : {
      volumes: named.map((volume) => ({ Name: volume.source, Dest: volume.target, Options: mountOptions(volume) })),
    }),
  };
}

/**
 * The reference that an engine is given: of a tag and a digest, the digest decides, and not every Podman takes both.
 *
 * @param image A reference as `contracts/podman_workload.ts` takes it
 */
export function engineReference(image: string): string {
  return image.replace(/:[^:/@]+(@sha256:[0-9a-f]{64})$/, "$1");
}
