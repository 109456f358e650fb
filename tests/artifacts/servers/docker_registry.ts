/**
 * Debian's `docker-registry` with TLS, open to everybody or behind tokens.
 *
 * @module
 */
import type { ServerCertificate } from "../../tls/test_authority.ts";
import { type ServerProcess, startServerProcess } from "./server_process.ts";

/** What it is started with. */
export interface DockerRegistryOptions {
  readonly program: string;
  /** Short, since Unix socket paths are. */
  readonly directory: string;
  readonly certificate: ServerCertificate;
  /** Where tokens are to be had, and whose signature they have. */
  readonly tokens?: {
    readonly realm: string;
    readonly service: string;
    readonly issuer: string;
    readonly caCert: string;
  };
}

/**
 * Starts it.
 *
 * @param options Program, directory, certificate, tokens
 */
export async function startDockerRegistry(options: DockerRegistryOptions): Promise<ServerProcess> {
  const { program, directory, certificate, tokens } = options;
  await Deno.mkdir(directory, { recursive: true });
  await Deno.writeTextFile(`${directory}/cert.pem`, certificate.cert);
  await Deno.writeTextFile(`${directory}/key.pem`, certificate.key, { mode: 0o600 });
  if (tokens !== undefined) await Deno.writeTextFile(`${directory}/tokens.pem`, tokens.caCert);
  // JSON is YAML.
  const config = {
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: `${directory}/blobs` }, delete: { enabled: true } },
    http: {
      net: "unix",
      addr: `${directory}/s`,
      secret: "of this test",
      tls: { certificate: `${directory}/cert.pem`, key: `${directory}/key.pem` },
    },
    ...(tokens === undefined ? {} : {
      auth: {
        token: {
          realm: tokens.realm,
          service: tokens.service,
          issuer: tokens.issuer,
          rootcertbundle: `${directory}/tokens.pem`,
        },
      },
    }),
  };
  await Deno.writeTextFile(`${directory}/config.yml`, JSON.stringify(config));
  return await startServerProcess(directory, [program, "serve", `${directory}/config.yml`], `${directory}/s`);
}
