import { assertEquals } from "@std/assert";
import { BUILD_FORM, BUILD_VERSION } from "./build_info.ts";
import { deviceInfo } from "./device.ts";
import { info } from "../tests/golden/fleet_documents.ts";

Deno.test({
  name: "build info: what a source tree says of itself is a legal version and form",
  permissions: "none",
  fn() {
    const { agentVersion, form } = deviceInfo({ ...info, agentVersion: BUILD_VERSION, form: BUILD_FORM }, "");
    assertEquals([agentVersion, form], ["0.0.0-unbuilt", "source"]);
  },
});
