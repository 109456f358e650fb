import { assertEquals } from "@std/assert";
import { decodeError } from "../../contracts/codec.ts";
import { FleetError } from "../../contracts/errors.ts";
import { errnoError, fileSystemError, tooLargeError } from "../durable/file_system_error.ts";
import { guardedFileFault } from "./read_guarded_file.ts";

Deno.test("guardedFileFault() blames the site for a file that cannot be read, and the reader for one that it refuses", () => {
  const site = ["ENOENT", "EACCES", "EPERM", "EIO", "ENOTDIR", "EISDIR", "EROFS", "UNKNOWN"];
  for (const errno of site) assertEquals(guardedFileFault(errnoError(errno, "read x")), "environment", errno);
  for (const code of ["E_FILE_MODE", "E_FILE_KIND"]) {
    assertEquals(guardedFileFault(new FleetError("x", { code })), "environment", code);
  }
  const notAllowed = fileSystemError(new Deno.errors.NotCapable("x"), "read x");
  for (const error of [notAllowed, tooLargeError("x", 9), decodeError("x", "is wrong"), new TypeError("x")]) {
    assertEquals(guardedFileFault(error), "version", error.message);
  }
});
