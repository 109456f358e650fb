/**
 * `podmanV0`: the containers of a deployment, as a person writes them and as a device runs them (DESIGN 3).
 *
 * @module
 */
import {
  boundedJson,
  type Decoded,
  decodeError,
  type Decoder,
  flag,
  integer,
  list,
  map,
  object,
  oneOf,
  optional,
  refined,
  text,
} from "./codec.ts";
import { labels } from "./formats.ts";
import {
  COMMAND_WORD_MAX_CHARS,
  COMMAND_WORDS_MAX,
  CONTAINER_NAME_MAX_CHARS,
  CONTAINER_STOP_MAX_S,
  CONTAINER_USER_MAX_CHARS,
  DEPLOYMENT_CONTAINERS_MAX,
  ENVIRONMENT_MAX,
  ENVIRONMENT_NAME_MAX_CHARS,
  ENVIRONMENT_VALUE_MAX_CHARS,
  IMAGE_MAX_CHARS,
  PORT_MAX,
  PORTS_MAX,
  VOLUME_PATH_MAX_CHARS,
  VOLUMES_MAX,
  WORKLOAD_MAX_BYTES,
} from "./limits.ts";

/** Prefix of the labels that the agent writes on its containers; no deployment may write one of them. */
export const OWN_LABEL_PREFIX = "fleet.nationtech.io/";

/** When an image is fetched before a container is made: when it is not there, each time, or never. */
export const PULL_POLICIES = ["missing", "always", "never"] as const;
/** When Podman starts a container again by itself. */
export const RESTART_POLICIES = ["no", "on-failure", "always", "unless-stopped"] as const;
/** One of {@link RESTART_POLICIES}. */
export type RestartPolicy = (typeof RESTART_POLICIES)[number];
/** Networks: the device's own, Podman's bridge, none, or what Podman gives a container that asks for nothing. */
export const NETWORK_MODES = ["host", "bridge", "none", "private"] as const;

/** Decodes the name of a container within its deployment: one lower-case DNS label. */
export const containerName: Decoder<string> = text({
  what: "a container name (lower-case letters, digits and inner hyphens)",
  maxChars: CONTAINER_NAME_MAX_CHARS,
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
});

const HOST = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[0-9]{1,5})?";
const COMPONENT = "[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*";
const IMAGE_REGEXP = new RegExp(
  `^(${HOST})/${COMPONENT}(?:/${COMPONENT})*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`,
);

/**
 * Decodes an image reference that means the same everywhere: with its registry (`localhost/` for images of the device
 * itself), and with a tag, a digest, or both, of which the digest decides. A device has no list of registries to search.
 */
export const image: Decoder<string> = text({
  what: "an image with its registry, such as registry.example/app:1.4",
  maxChars: IMAGE_MAX_CHARS,
  pattern: IMAGE_REGEXP,
  check: (value) => {
    const [, host = "", tag, digest] = IMAGE_REGEXP.exec(value) ?? [];
    if (!/[.:]/.test(host) && host !== "localhost") return `names no registry: ${host} has neither a dot nor a port`;
    return tag === undefined && digest === undefined ? "has neither a tag nor a digest" : undefined;
  },
});

const word = text({
  what: "text",
  maxChars: COMMAND_WORD_MAX_CHARS,
  minChars: 0,
  // deno-lint-ignore no-control-regex -- a zero byte ends a word for the kernel
  pattern: /^[^\u0000]*$/,
});
const words = list(word, COMMAND_WORDS_MAX, 1);
const environmentName = text({
  what: "the name of an environment variable",
  maxChars: ENVIRONMENT_NAME_MAX_CHARS,
  pattern: /^[A-Za-z_][A-Za-z0-9_.-]*$/,
});
const environmentValue = text({
  what: "text",
  maxChars: ENVIRONMENT_VALUE_MAX_CHARS,
  minChars: 0,
  // deno-lint-ignore no-control-regex -- a zero byte ends a value for the kernel
  pattern: /^[^\u0000]*$/,
});

const containerPath = text({
  what: "an absolute path without colons, commas and control characters",
  maxChars: VOLUME_PATH_MAX_CHARS,
  // deno-lint-ignore no-control-regex -- control characters are what it refuses
  pattern: /^\/[^\u0000-\u001f\u007f:,]*$/,
  check: (value) =>
    value.split("/").some((part) => part === ".." || part === ".") ? "must not contain . or .. segments" : undefined,
});
const volumeName = text({
  what: "a volume name (letters, digits and . _ -)",
  maxChars: VOLUME_PATH_MAX_CHARS,
  pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]*$/,
});

/** Decodes a volume: a path of the device (`bind`), which must exist, or a named volume, made when it does not exist. */
export const volume = refined(
  object({
    type: oneOf(["bind", "named"]),
    source: text({ what: "a path or a volume name", maxChars: VOLUME_PATH_MAX_CHARS }),
    target: containerPath,
    readOnly: optional(flag),
  }),
  (value, path) => {
    const decode = value.type === "bind" ? containerPath : volumeName;
    decode(value.source, path === "" ? "source" : `${path}.source`);
    return value;
  },
);

/** Decodes one published port. */
export const publishedPort = object({
  containerPort: integer(1, PORT_MAX),
  hostPort: integer(1, PORT_MAX),
  /** Default `tcp`. */
  protocol: optional(oneOf(["tcp", "udp", "sctp"])),
  /** Address of the device to listen at. Default all of them. */
  hostIp: optional(text({ what: "an IP address", maxChars: 45, pattern: /^[0-9a-f.:]+$/ })),
});

const ownLabels = refined(labels, (value, path) => {
  const own = Object.keys(value).find((key) => key.startsWith(OWN_LABEL_PREFIX));
  if (own !== undefined) throw decodeError(`${path}.${own}`, `begins with ${OWN_LABEL_PREFIX}, which is the agent's`);
  return value;
});

const containerShape = object({
  /** Unique within the deployment. The container is called `<deployment>.<name>` in Podman. */
  name: containerName,
  image,
  /** Default `missing`. */
  pullPolicy: optional(oneOf(PULL_POLICIES)),
  /** Instead of the image's entrypoint. */
  entrypoint: optional(words),
  /** Instead of the image's command: the arguments of the entrypoint, or the program where there is none. */
  command: optional(words),
  env: optional(map(environmentName, environmentValue, ENVIRONMENT_MAX)),
  ports: optional(list(publishedPort, PORTS_MAX)),
  volumes: optional(list(volume, VOLUMES_MAX)),
  /** `user`, `user:group`, or numbers. Default the image's. */
  user: optional(text({
    what: "a user, or a user and a group with a colon between them",
    maxChars: CONTAINER_USER_MAX_CHARS,
    pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/,
  })),
  /** Default what Podman gives: `private`, unless the device's configuration of Podman has another. */
  networkMode: optional(oneOf(NETWORK_MODES)),
  /** Default `always`, the one policy under which a container runs again after a reboot without the agent. */
  restartPolicy: optional(oneOf(RESTART_POLICIES)),
  /** Time from SIGTERM to SIGKILL, in s. Default {@link CONTAINER_STOP_DEFAULT_S}. */
  stopTimeoutSeconds: optional(integer(0, CONTAINER_STOP_MAX_S)),
  labels: optional(ownLabels),
});

/** Decodes one container of a deployment. */
export const workloadContainer = refined(containerShape, (container, path) => {
  const at = (name: string) => path === "" ? name : `${path}.${name}`;
  const { networkMode, ports = [], volumes = [] } = container;
  if (ports.length > 0 && (networkMode === "host" || networkMode === "none")) {
    throw decodeError(at("ports"), `cannot be published with networkMode ${networkMode}`);
  }
  const repeated = firstRepeated(volumes.map(({ target }) => target));
  if (repeated !== undefined) {
    throw decodeError(at(`volumes[${repeated}].target`), "is the target of another volume too");
  }
  return container;
});
/** One container of a deployment. */
export type WorkloadContainer = Decoded<typeof workloadContainer>;

/** Index of the first item that an earlier one equals. */
function firstRepeated(items: readonly string[]): number | undefined {
  const index = items.findIndex((item, at) => items.indexOf(item) !== at);
  return index < 0 ? undefined : index;
}

const workload = refined(
  object({ containers: list(workloadContainer, DEPLOYMENT_CONTAINERS_MAX, 1) }),
  (value, path) => {
    const at = path === "" ? "containers" : `${path}.containers`;
    const named = firstRepeated(value.containers.map(({ name }) => name));
    if (named !== undefined) throw decodeError(`${at}[${named}].name`, "is the name of another container too");
    const ports = value.containers.flatMap(({ ports = [] }, container) =>
      ports.map(({ hostPort, hostIp = "", protocol = "tcp" }, port) => ({
        key: `${hostIp} ${protocol} ${hostPort}`,
        at: `${at}[${container}].ports[${port}].hostPort`,
      }))
    );
    const taken = firstRepeated(ports.map(({ key }) => key));
    if (taken !== undefined) throw decodeError(ports[taken]?.at ?? at, "is published twice");
    return value;
  },
);
/** Decodes the workload of a deployment, which fits a desired-state entry. */
export const podmanV0 = boundedJson(workload, WORKLOAD_MAX_BYTES);
/** The workload of a deployment. */
export type PodmanV0 = Decoded<typeof podmanV0>;
