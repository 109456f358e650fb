/**
 * A write that got no answer is not repeated blindly: whoever wrote reads again, and sees whether it happened.
 *
 * @module
 */
import { isFleetError } from "../../../contracts/errors.ts";

/**
 * Makes a write.
 *
 * @param write The write
 * @returns what it returns, or `unknown` when it may or may not have happened
 */
export async function writeOnce<T>(write: () => Promise<T>): Promise<T | "unknown"> {
  try {
    return await write();
  } catch (error) {
    if (isFleetError(error, "E_BUS_UNKNOWN_OUTCOME")) return "unknown";
    throw error;
  }
}
