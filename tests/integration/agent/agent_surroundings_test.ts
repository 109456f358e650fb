import { X509Certificate } from "node:crypto";
import { assert, assertEquals } from "@std/assert";
import { credentialsExpireAt } from "../../../agent/credential_expiry.ts";
import { readinessStepOf } from "../../../contracts/readiness.ts";
import { tlsConfig } from "../../nats/server_config.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { createTestAuthority } from "../../tls/test_authority.ts";
import { brokerConfig, ProcessFixture } from "./agent_process.ts";

Deno.test("agent process: TLS with a CA of its own; a stranger's CA is exit 75", () =>
  ProcessFixture.use(async (fixture) => {
    const [authority, stranger] = await Promise.all([createTestAuthority(), createTestAuthority("a stranger")]);
    const { cert, key } = await authority.issue();
    const directory = `${fixture.root}/etc/harmony-fleet`;
    const [certFile, keyFile, caFile, strangerFile] = ["cert.pem", "key.pem", "ca.pem", "stranger.pem"]
      .map((name) => `${directory}/${name}`) as [string, string, string, string];
    await Deno.writeTextFile(certFile, cert);
    await Deno.writeTextFile(keyFile, key);
    await Deno.writeTextFile(caFile, authority.caCert);
    await Deno.writeTextFile(strangerFile, stranger.caCert);
    await fixture.nats.restart({ config: `${brokerConfig()}\n${tlsConfig({ certFile, keyFile })}` });
    const servers = [fixture.nats.url.replace("nats:", "tls:")];
    await fixture.configure({ nats: { servers, caFile: strangerFile }, bounds: { natsRetryWindowMs: 700 } });
    const distrustful = fixture.start();
    assertEquals(await distrustful.end(), 75);
    await waitUntil("last STATUS", () => readinessStepOf(distrustful.statuses.at(-1) ?? "") === "tls");
    await fixture.configure({ nats: { servers, caFile } });
    const agent = await fixture.startReady();
    assertEquals(await agent.stop(), 0);
  }));

Deno.test("agent process: NATS that comes back within the window is no failure", () =>
  ProcessFixture.use(async (fixture) => {
    await fixture.nats.kill9();
    const agent = fixture.start();
    await waitUntil("a wait", () => agent.statuses.some((status) => /^\[network\] .* s more$/.test(status)), 30_000);
    await fixture.nats.restart();
    await agent.untilReady();
    assertEquals(await agent.stop(), 0);
  }));

Deno.test("agent process: feeds the watchdog, counts its starts, and ends for SIGINT as well", () =>
  ProcessFixture.use(async (fixture) => {
    fixture.environment = { WATCHDOG_USEC: "200000", FLEET_AGENT_STARTS: "3" };
    const agent = await fixture.startReady();
    const fed = () => agent.said.filter(({ watchdog }) => watchdog === true).length;
    await waitUntil("the watchdog to be fed", () => fed() >= 5, 30_000);
    await waitUntil("starts in the vitals", async () => (await fixture.beat())?.vitals.restarts === 3, 30_000);
    agent.kill("SIGINT");
    assertEquals(await agent.end(), 0);
  }));

Deno.test("agent process: SIGTERM at any moment of the start ends it soon, with 0 once it listens", () =>
  ProcessFixture.use(async (fixture) => {
    await fixture.updater.stop();
    const waiting = fixture.start();
    await waitUntil(
      "the updater step",
      () => waiting.statuses.some((status) => status.startsWith("[updater]")),
      30_000,
    );
    await waitUntil("blocked in device info", async () => (await fixture.info())?.step === "updater", 30_000);
    assertEquals(await waiting.stop(), 0);
    await fixture.nats.kill9();
    const connecting = fixture.start();
    await waitUntil("the nats step", () => connecting.statuses.some((status) => status.startsWith("[n")), 30_000);
    const startedMs = performance.now();
    assertEquals(await connecting.stop(), 0);
    assert(performance.now() - startedMs < 10_000);
  }));

Deno.test("credentialsExpireAt() is the earliest end among the certificates and tokens that are configured", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const [caFile, tokenFile] = [`${directory}/ca.pem`, `${directory}/token`];
    const authorities = await Promise.all([createTestAuthority("one"), createTestAuthority("two")]);
    await Deno.writeTextFile(caFile, `comment\n${authorities.map(({ caCert }) => caCert).join("\n")}`);
    const caEnds = authorities.map(({ caCert }) => new X509Certificate(caCert).validToDate.getTime());
    const servers = ["tls://nats.example"];
    const earliest = new Date(Math.min(...caEnds)).toISOString();
    assertEquals(await credentialsExpireAt({ nats: { servers, caFile } }), earliest);
    const exp = Math.floor(Date.now() / 1_000) + 60;
    await Deno.writeTextFile(tokenFile, `${btoa("{}")}.${btoa(JSON.stringify({ exp }))}.sig`.replaceAll("=", ""));
    const soon = new Date(exp * 1_000).toISOString();
    assertEquals(await credentialsExpireAt({ nats: { servers, caFile, tokenFile } }), soon);
    assertEquals(await credentialsExpireAt({ nats: { servers, caFile: `${directory}/missing` } }), undefined);
    assertEquals(await credentialsExpireAt({ nats: { servers } }), undefined);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
