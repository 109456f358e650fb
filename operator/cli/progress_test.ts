import { assert, assertEquals, assertRejects } from "@std/assert";
import { withProgress } from "./progress.ts";

function recorder(errIsTerminal: boolean) {
  const written: string[] = [];
  const waiters: (() => void)[] = [];
  return {
    written,
    terminal: {
      errIsTerminal,
      err: (text: string) => {
        written.push(text);
        for (const wake of waiters.splice(0)) wake();
        return Promise.resolve();
      },
    },
    next: () => new Promise<void>((resolve) => waiters.push(resolve)),
  };
}

const SOON = { afterMs: 1, everyMs: 1, everyInLogMs: 1 };

Deno.test("withProgress() is silent about work that ends in time", async () => {
  const { terminal, written } = recorder(true);
  assertEquals(await withProgress(terminal, "reading", () => Promise.resolve(7)), 7);
  assertEquals(written, []);
});

Deno.test("withProgress() writes lines to a log", async () => {
  const { terminal, written, next } = recorder(false);
  await withProgress(terminal, "applying", async (report) => {
    await next();
    report("3 of 9 documents");
    await next();
  }, SOON);
  assert(/^fleetctl: applying \(\d+ms\)\n$/.test(written[0] ?? ""), written[0]);
  assert(/^fleetctl: applying, 3 of 9 documents \(\d+ms\)\n$/.test(written[1] ?? ""), written[1]);
});

Deno.test("withProgress() writes one line over and over on a terminal, and removes it, also after an error", async () => {
  const { terminal, written, next } = recorder(true);
  await assertRejects(
    () =>
      withProgress(terminal, "reading", async () => {
        await next();
        throw new Error("broken");
      }, SOON),
    Error,
    "broken",
  );
  assert(written[0]?.startsWith("\r\u001b[Kfleetctl: reading ("), written[0]);
  assertEquals(written.at(-1), "\r\u001b[K");
  assertEquals(written.some((text) => text.includes("\n")), false);
});
