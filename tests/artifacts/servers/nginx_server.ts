/**
 * A real nginx with TLS that serves a folder in several ways.
 *
 * @module
 */
import type { ServerCertificate } from "../../tls/test_authority.ts";
import { type ServerProcess, startServerProcess } from "./server_process.ts";

/** What it is started with. */
export interface NginxOptions {
  readonly program: string;
  /** Where its files go, and `www/` is served from; short, since Unix socket paths are. */
  readonly directory: string;
  readonly certificate: ServerCertificate;
  /** Origin that `/upstream/` is handed on to, with an authority that nginx need not know. */
  readonly upstream?: string;
}

/** Every location serves the same folder. */
function configOf({ directory, upstream }: NginxOptions): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${directory}/${name};`
  );
  const handedOn = upstream === undefined ? "" : `
    location /upstream/ { proxy_pass ${upstream}/; proxy_ssl_verify off; proxy_buffering off; }`;
  return `daemon off; master_process off; pid ${directory}/nginx.pid; error_log stderr warn;
events { worker_connections 64; }
http {
  access_log ${directory}/access.log; default_type application/octet-stream; ${temporary.join(" ")}
  server {
    listen unix:${directory}/s ssl; ssl_certificate ${directory}/cert.pem; ssl_certificate_key ${directory}/key.pem;
    location /plain/ { alias ${directory}/www/; }
    location /gzip/ { alias ${directory}/www/; gzip on; gzip_types *; gzip_min_length 1; }
    location /packed/ { alias ${directory}/www/; gzip_static always; }
    location /slow/ { alias ${directory}/www/; limit_rate 100k; }
    location /dated/ { alias ${directory}/www/; etag off; }
    location /untold/ { alias ${directory}/www/; etag off; add_header Last-Modified ""; }
    location /whole/ { alias ${directory}/www/; max_ranges 0; }
    location /moved/ { return 302 /plain/; }${handedOn}
  }
}
`;
}

/**
 * Starts it.
 *
 * @param options Program, directory, certificate
 */
export async function startNginx(options: NginxOptions): Promise<ServerProcess> {
  const { program, directory, certificate } = options;
  await Deno.mkdir(`${directory}/www`, { recursive: true });
  await Deno.writeTextFile(`${directory}/cert.pem`, certificate.cert);
  await Deno.writeTextFile(`${directory}/key.pem`, certificate.key, { mode: 0o600 });
  await Deno.writeTextFile(`${directory}/nginx.conf`, configOf(options));
  const command = [program, "-p", directory, "-c", `${directory}/nginx.conf`, "-e", "stderr"];
  return await startServerProcess(directory, command, `${directory}/s`);
}
