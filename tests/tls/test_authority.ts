/**
 * A certificate authority that lives as long as a test: it issues what an HTTPS server needs, right or wrong on purpose.
 *
 * @module
 */

import "reflect-metadata";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 24 * 60 * 60 * 1_000;

/** What a TLS server is given, as PEM. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. */
export interface IssueOptions {
  /** DNS names and IP addresses. @default `localhost`, `127.0.0.1` and `::1` */
  readonly names?: readonly string[];
  /** @default yesterday */
  readonly notBefore?: Date;
  /** @default tomorrow */
  readonly notAfter?: Date;
}

/** A certificate authority. */
export interface TestAuthority {
  /** Its own certificate, as PEM: what a client must trust. */
  readonly caCert: string;
  /** Issues a server certificate. */
  issue(options?: IssueOptions): Promise<ServerCertificate>;
  /** Issues one that ended an hour ago. */
  issueExpired(): Promise<ServerCertificate>;
}

function generateKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

function serialNumber(): string {
  // A leading zero byte keeps the DER integer positive.
  return `00${
    [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  }`;
}

async function privateKeyPem(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}

function isAddress(name: string): boolean {
  return name.includes(":") || /^[0-9.]+$/.test(name);
}

/**
 * Makes an authority with a fresh key.
 *
 * @param name Its common name
 */
export async function createTestAuthority(name = "Harmony Fleet test authority"): Promise<TestAuthority> {
  const keys = await generateKeys();
  const now = Date.now();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    serialNumber: serialNumber(),
    notBefore: new Date(now - 2 * DAY_MS),
    notAfter: new Date(now + 2 * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const issue = async (options: IssueOptions = {}): Promise<ServerCertificate> => {
    const names = options.names ?? ["localhost", "127.0.0.1", "::1"];
    const serverKeys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: "CN=Harmony Fleet test server",
      issuer: ca.subject,
      serialNumber: serialNumber(),
      notBefore: options.notBefore ?? new Date(now - DAY_MS),
      notAfter: options.notAfter ?? new Date(now + DAY_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: serverKeys.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(
          names.map((value): x509.JsonGeneralName => ({ type: isAddress(value) ? "ip" : "dns", value })),
        ),
      ],
    });
    return { cert: certificate.toString("pem"), key: await privateKeyPem(serverKeys.privateKey) };
  };
  return {
    caCert: ca.toString("pem"),
    issue,
    issueExpired: () => issue({ notBefore: new Date(now - 2 * DAY_MS), notAfter: new Date(now - DAY_MS / 24) }),
  };
}
