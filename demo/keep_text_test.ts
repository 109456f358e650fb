import { assert, assertStringIncludes } from "@std/assert";
import { keepText } from "./keep_text.ts";

Deno.test("keepText() has commands that can be copied, and no secret", () => {
  const text = keepText({
    directory: "/tmp/fleet-demo-1",
    manifests: "/tmp/fleet-demo-1/manifests",
    configFile: "/tmp/fleet-demo-1/fleetctl.json",
    natsUrl: "nats://127.0.0.1:4222",
  });
  for (
    const line of [
      "\n  export PATH=/tmp/fleet-demo-1:$PATH FLEETCTL_CONFIG=/tmp/fleet-demo-1/fleetctl.json\n",
      "\n  cd /tmp/fleet-demo-1/manifests\n",
      "\n  fleetctl get devices ",
      "Ctrl-C",
    ]
  ) assertStringIncludes(text, line);
  assert(!/--password|user=/.test(text));
});
