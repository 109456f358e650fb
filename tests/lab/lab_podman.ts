/**
 * Rootless Podman of a device in the lab: the socket that install.sh sets up for the agent's user, and a container image
 * that no registry has to serve.
 *
 * @module
 */
import type { Device } from "./device.ts";

/** An image with a busybox and nothing else; {@link importAppImage} makes it. */
export const APP_IMAGE = "localhost/app:1";

/** Where the socket of the agent's user is: `/run/user/UID/podman/podman.sock`. */
export async function podmanSocket(device: Device): Promise<string> {
  return `/run/user/${await device.sh("id -u fleet-agent")}/podman/podman.sock`;
}

/**
 * Asks Podman's API as root, and not from the agent's sandbox.
 *
 * @param device The device
 * @param request Method and path, such as `GET /libpod/containers/json`
 * @param body A JSON document, or the path of a file on the device
 * @returns the answer's body
 * @throws {Error} when the answer is an error, with its text
 */
export async function askPodman(
  device: Device,
  request: string,
  body?: Readonly<Record<string, unknown>> | string,
): Promise<string> {
  const [method = "GET", path = ""] = request.split(" ");
  const type = typeof body === "string" ? "application/x-tar" : "application/json";
  const data = body === undefined
    ? []
    : ["--header", `content-type: ${type}`, "--data-binary", typeof body === "string" ? `@${body}` : "@-"];
  const { code, stdout, stderr } = await device.exec(
    [
      ..."curl --silent --show-error --fail-with-body --max-time 60 --unix-socket".split(" "),
      await podmanSocket(device),
      ...["--request", method, ...data, `http://podman/v4.0.0${path}`],
    ],
    typeof body === "object" ? JSON.stringify(body) : undefined,
  );
  if (code !== 0) throw new Error(`Cannot ask Podman ${request}: ${stderr.trim()} ${stdout.trim()}`);
  return stdout;
}

/** Makes {@link APP_IMAGE} on a device. */
export async function importAppImage(device: Device): Promise<void> {
  await device.sh(`
    mkdir -p /root/app/bin && cp /bin/busybox /root/app/bin/
    for name in sh sleep; do ln -sf busybox /root/app/bin/$name; done
    tar -C /root/app -cf /root/app.tar .`);
  await askPodman(device, `POST /libpod/images/import?reference=${APP_IMAGE}`, "/root/app.tar");
}
