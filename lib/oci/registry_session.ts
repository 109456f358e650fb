/**
 * Requests to one repository of a registry (OCI Distribution Specification 1.1): the login that it asks for, documents
 * with their digests, and blobs wherever it keeps them.
 *
 * Without a login everything is anonymous: what a registry gives is asked for with a token that anybody gets. A login
 * goes to the registry's host and to the token service that it names, over https, and nowhere else.
 *
 * @module
 */
import { sha256Hex } from "../../contracts/digest.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { OCI_MANIFEST_MAX_BYTES, OCI_REDIRECTS_MAX, OCI_TOKEN_ANSWER_MAX_BYTES } from "../../contracts/limits.ts";
import {
  OCI_INDEX_TYPE,
  OCI_MANIFEST_TYPE,
  type OciDescriptor,
  type OciDocument,
  ociDocument,
} from "../../contracts/oci_artifact.ts";
import type { OciReference } from "../../contracts/oci_reference.ts";
import { fetchError, statusError } from "../fetch/fetch_error.ts";
import type { FetchRun } from "../fetch/fetch_run.ts";
import { openResponse, requestWhole, type ServerRequest, type WholeResponse } from "../fetch/open_response.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import { redirectTarget } from "./redirect_target.ts";
import { tokenOf, tokenUrl } from "./token.ts";

/** Who asks. */
export interface RegistryLogin {
  readonly user: string;
  readonly password: string;
}

/** How a session asks. */
export interface RegistrySessionOptions {
  /** Default nobody. */
  readonly login?: RegistryLogin;
  /** Whether redirects of blobs are followed. Default true */
  readonly followRedirects?: boolean;
  /** What is done with the repository. Default `pull` */
  readonly actions?: "pull" | "pull,push";
}

/** A document of a registry, with the digest of its bytes. */
export interface RegistryDocument {
  readonly document: OciDocument;
  readonly mediaType: string;
  /** `sha256:…`, computed over the bytes. */
  readonly digest: string;
  readonly sizeBytes: number;
}

const DOCUMENT_TYPES = `${OCI_INDEX_TYPE}, ${OCI_MANIFEST_TYPE}`;

/** Requests to one repository. */
export class RegistrySession {
  readonly #run: FetchRun;
  readonly #base: string;
  readonly #repository: string;
  readonly #options: RegistrySessionOptions;
  #authorization: string | undefined;

  /**
   * A session.
   *
   * @param run The fetch that it is part of
   * @param reference The repository
   * @param options Login and redirects
   */
  constructor(
    run: FetchRun,
    reference: Pick<OciReference, "host" | "repository">,
    options: RegistrySessionOptions = {},
  ) {
    this.#run = run;
    this.#base = `https://${reference.host}`;
    this.#repository = reference.repository;
    this.#options = options;
  }

  /** The URL of something in the repository. */
  url(path: string): string {
    return `${this.#base}/v2/${this.#repository}/${path}`;
  }

  /**
   * Sends a request to the registry and reads the answer whole; logs in where the registry asks for it.
   *
   * @param request What is asked
   * @param maxBytes Most bytes of the answer
   * @throws {FleetError} `E_FETCH_*`; a status is no error
   */
  async request(request: ServerRequest, maxBytes: number): Promise<WholeResponse> {
    const send = () => requestWhole(this.#run, this.#authorized(request), maxBytes);
    const first = await send();
    return first.status === 401 && await this.#logIn(first.headers) ? await send() : first;
  }

  /**
   * Reads a manifest or index.
   *
   * @param name A tag, or a digest, which the bytes must then have
   * @param expected The descriptor that named it, if one did
   * @throws {FleetError} `E_FETCH_*`; `E_FETCH_MANIFEST` for what is no such document
   */
  async document(name: string, expected?: OciDescriptor): Promise<RegistryDocument> {
    const request = { url: this.url(`manifests/${name}`), headers: { accept: DOCUMENT_TYPES } };
    const { status, headers, bytes } = await this.request(request, OCI_MANIFEST_MAX_BYTES);
    if (status !== 200) throw this.#statusError(status);
    const digest = `sha256:${sha256Hex(bytes)}`;
    const wrong = (problem: string, cause?: unknown) =>
      fetchError(this.#run, "E_FETCH_MANIFEST", problem, "policy", cause);
    const wanted = expected?.digest ?? (name.startsWith("sha256:") ? name : undefined);
    if (wanted !== undefined && digest !== wanted) throw wrong(`the bytes under ${wanted} have the digest ${digest}`);
    if (expected !== undefined && bytes.byteLength !== expected.size) {
      throw wrong(`${digest} has ${bytes.byteLength} bytes, the index says ${expected.size}`);
    }
    const contentType = headers.get("content-type") ?? undefined;
    try {
      const document = ociDocument(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), contentType);
      const mediaType = document.kind === "index" ? OCI_INDEX_TYPE : OCI_MANIFEST_TYPE;
      return { document, mediaType, digest, sizeBytes: bytes.byteLength };
    } catch (error) {
      if (isFleetError(error, "E_DECODE")) throw wrong(`its manifest ${name}: ${error.message}`, error);
      throw wrong(`its manifest ${name} is no JSON`, error);
    }
  }

  /**
   * Asks for a blob and follows the registry to where it keeps it.
   *
   * @param digest Its digest
   * @param headers Headers of the request: a range
   * @param connection Whoever aborts it ends the connection
   * @returns the response, whatever its status is
   * @throws {FleetError} `E_FETCH_*`; `E_FETCH_REDIRECT` for a redirect that may not be followed
   */
  async openBlob(
    digest: string,
    headers: Readonly<Record<string, string>>,
    connection: AbortController,
  ): Promise<Response> {
    let url = this.url(`blobs/${digest}`);
    let response = await openResponse(this.#run, this.#authorized({ url, headers }), connection);
    if (response.status === 401 && await this.#logIn(response.headers)) {
      await discard(response);
      response = await openResponse(this.#run, this.#authorized({ url, headers }), connection);
    }
    if (response.status === 401 || response.status === 403) throw this.#statusError(response.status);
    if (this.#options.followRedirects === false) return response;
    for (let redirects = 1;; redirects++) {
      const target = redirectTarget(url, response.status, response.headers.get("location"));
      if (target.kind === "none") return response;
      const problem = target.kind === "refused" ? target.problem : `more than ${OCI_REDIRECTS_MAX} times`;
      if (target.kind === "refused" || redirects > OCI_REDIRECTS_MAX) {
        throw fetchError(this.#run, "E_FETCH_REDIRECT", `the registry redirects its blob ${problem}`, "policy");
      }
      await discard(response);
      url = target.url;
      // No authorization: it is the registry's, and not of whom the registry names.
      response = await openResponse(this.#run, { url, headers }, connection);
    }
  }

  #authorized(request: ServerRequest): ServerRequest {
    if (this.#authorization === undefined) return request;
    return { ...request, headers: { ...request.headers, authorization: this.#authorization } };
  }

  #statusError(status: number) {
    if (status === 401 || status === 403) {
      const who = this.#options.login === undefined ? "whoever asks without a login" : "this login";
      return fetchError(this.#run, "E_FETCH_LOGIN", `the registry refuses ${who} (status ${status})`, "policy");
    }
    return statusError(this.#run, status);
  }

  /** Gets what a registry asks for. @returns whether the request is worth repeating */
  async #logIn(headers: Headers): Promise<boolean> {
    const challenges = parseChallenges(headers.get("www-authenticate"));
    const bearer = challenges.find((challenge) => challenge.kind === "bearer");
    if (bearer !== undefined) {
      this.#authorization = `Bearer ${await this.#token(bearer)}`;
      return true;
    }
    const basic = this.#basic();
    if (basic === undefined || this.#authorization === basic || challenges.length === 0) return false;
    this.#authorization = basic;
    return true;
  }

  #basic(): string | undefined {
    const { login } = this.#options;
    if (login === undefined) return undefined;
    const bytes = new TextEncoder().encode(`${login.user}:${login.password}`);
    return `Basic ${btoa(String.fromCharCode(...bytes))}`;
  }

  async #token(challenge: Extract<Challenge, { kind: "bearer" }>): Promise<string> {
    const { actions = "pull" } = this.#options;
    const asked = tokenUrl(challenge, `repository:${this.#repository}:${actions}`);
    if ("problem" in asked) {
      throw fetchError(this.#run, "E_FETCH_LOGIN", `the registry cannot be asked: ${asked.problem}`, "policy");
    }
    const authorization = this.#basic();
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await requestWhole(this.#run, { url: asked.url, headers }, OCI_TOKEN_ANSWER_MAX_BYTES);
    if (answer.status !== 200) throw this.#statusError(answer.status);
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder().decode(answer.bytes));
    } catch {
      value = undefined;
    }
    const token = tokenOf(value);
    if (token !== undefined) return token;
    throw fetchError(this.#run, "E_FETCH_LOGIN", "the registry's token service gave no token", "policy");
  }
}

/** The rest of an answer that is not wanted, so that its connection is free again. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}
