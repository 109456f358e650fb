/**
 * The part of `@std/assert` that the tests use, over `node:assert`, with the same names and signatures. The published
 * package is on JSR only; everything here comes from npm, so `deno.json` maps `@std/assert` to this module.
 *
 * @module
 */

import nodeAssert from "node:assert";

/** Thrown by every assertion of this module. */
export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

// deno-lint-ignore no-explicit-any -- the constructor type of @std/assert; `unknown[]` would reject real classes
type AnyConstructor = new (...args: any[]) => any;

/** A class of which instances are expected. */
// deno-lint-ignore no-explicit-any -- as in @std/assert
export type ErrorClass<E extends Error = Error> = abstract new (...args: any[]) => E;

function inspect(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : Deno.inspect(value, { depth: 8, sorted: true });
}

function suffix(msg: string | undefined): string {
  return msg === undefined ? "" : `: ${msg}`;
}

/** Whether two values are deeply equal by type and content; `NaN` equals itself and `0` equals `-0`. */
export function equal(actual: unknown, expected: unknown): boolean {
  if (actual === 0 && expected === 0) return true;
  try {
    nodeAssert.deepStrictEqual(actual, expected);
    return true;
  } catch {
    return false;
  }
}

/** Fails unless `expr` is truthy. */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Fails unless `expr` is falsy. */
export function assertFalse(expr: unknown, msg = ""): asserts expr is false | 0 | "" | null | undefined {
  if (expr) throw new AssertionError(msg);
}

/** Fails unless the values are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  let detail = `actual ${inspect(actual)}, expected ${inspect(expected)}`;
  try {
    nodeAssert.deepStrictEqual(actual, expected);
  } catch (error) {
    if (error instanceof Error) detail = error.message;
  }
  throw new AssertionError(`Values are not equal${suffix(msg)}\n${detail}`);
}

/** Fails if the values are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) throw new AssertionError(`Values are equal: ${inspect(actual)}${suffix(msg)}`);
}

/** Fails unless `Object.is` holds for the values. */
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  if (Object.is(actual, expected)) return;
  throw new AssertionError(`Values are not the same: ${inspect(actual)}, ${inspect(expected)}${suffix(msg)}`);
}

/** Fails if `Object.is` holds for the values. */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  if (Object.is(actual, expected)) throw new AssertionError(`Values are the same: ${inspect(actual)}${suffix(msg)}`);
}

/** Fails if the value is `null` or `undefined`. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) throw new AssertionError(`Value is ${actual}${suffix(msg)}`);
}

/** Fails unless the value is an instance of `expectedType`. */
export function assertInstanceOf<T extends AnyConstructor>(
  actual: unknown,
  expectedType: T,
  msg?: string,
): asserts actual is InstanceType<T> {
  if (actual instanceof expectedType) return;
  throw new AssertionError(`Value is not an instance of ${expectedType.name}: ${inspect(actual)}${suffix(msg)}`);
}

/** Fails unless the text matches. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!expected.test(actual)) throw new AssertionError(`${inspect(actual)} does not match ${expected}${suffix(msg)}`);
}

/** Fails if the text matches. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) throw new AssertionError(`${inspect(actual)} matches ${expected}${suffix(msg)}`);
}

/** Fails unless `actual` contains `expected`. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (actual.includes(expected)) return;
  throw new AssertionError(`${inspect(actual)} does not include ${inspect(expected)}${suffix(msg)}`);
}

/** Fails unless every expected item deeply equals some item of `actual`. */
export function assertArrayIncludes<T>(actual: ArrayLike<T>, expected: ArrayLike<T>, msg?: string): void {
  const have = Array.from(actual);
  const missing = Array.from(expected).filter((item) => !have.some((other) => equal(other, item)));
  if (missing.length === 0) return;
  throw new AssertionError(`${inspect(have)} does not include ${inspect(missing)}${suffix(msg)}`);
}

/** Fails unless `actual` has every member of `expected`, recursively; other members of `actual` are ignored. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- interfaces have no index signature; @std/assert has the same type
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals<unknown>(project(actual, expected), expected, msg);
}

/** The part of `actual` that `expected` speaks of. */
function project(actual: unknown, expected: unknown): unknown {
  if (!isBranch(actual) || !isBranch(expected)) return actual;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return actual;
    return actual.map((item, index) => index < expected.length ? project(item, expected[index]) : item);
  }
  if (Array.isArray(actual)) return actual;
  const part: Record<PropertyKey, unknown> = Object.create(Object.getPrototypeOf(expected));
  for (const key of Reflect.ownKeys(expected)) {
    if (key in actual) part[key] = project(Reflect.get(actual, key), Reflect.get(expected, key));
  }
  return part;
}

function isBranch(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  return !(value instanceof Map || value instanceof Set || value instanceof Date || value instanceof RegExp ||
    ArrayBuffer.isView(value));
}

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) throw new AssertionError(`${inspect(actual)} is not > ${inspect(expected)}${suffix(msg)}`);
}

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual >= expected)) {
    throw new AssertionError(`${inspect(actual)} is not >= ${inspect(expected)}${suffix(msg)}`);
  }
}

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) throw new AssertionError(`${inspect(actual)} is not < ${inspect(expected)}${suffix(msg)}`);
}

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual <= expected)) {
    throw new AssertionError(`${inspect(actual)} is not <= ${inspect(expected)}${suffix(msg)}`);
  }
}

/** Fails unless the numbers differ by at most `tolerance` (default: a ten-millionth of `expected`). */
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void {
  if (Object.is(actual, expected)) return;
  const bound = tolerance ?? Math.abs(expected) * 1e-7;
  if (Math.abs(actual - expected) <= bound) return;
  throw new AssertionError(`${actual} is not within ${bound} of ${expected}${suffix(msg)}`);
}

/** Fails unless `error` is of the class and its message has the text. */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: ErrorClass<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) throw new AssertionError(`Not an Error: ${inspect(error)}${suffix(msg)}`);
  if (ErrorClass !== undefined && !(error instanceof ErrorClass)) {
    throw new AssertionError(
      `Expected ${ErrorClass.name}, got ${error.constructor.name} "${error.message}"${suffix(msg)}`,
      { cause: error },
    );
  }
  const matches = msgMatches === undefined ||
    (typeof msgMatches === "string" ? error.message.includes(msgMatches) : msgMatches.test(error.message));
  if (!matches) {
    throw new AssertionError(
      `Error message "${error.message}" does not have ${inspect(msgMatches)}${suffix(msg)}`,
      { cause: error },
    );
  }
}

/** Fails unless `fn` throws; gives what was thrown. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Fails unless `fn` throws an error of the class whose message includes the text; gives the error. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows(
  fn: () => unknown,
  classOrMsg?: ErrorClass | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const expected = expectation(classOrMsg, msgIncludes, msg);
  try {
    fn();
  } catch (error) {
    return checked(error, expected);
  }
  throw new AssertionError(`Expected function to throw${suffix(expected.msg)}`);
}

/** Fails unless the promise rejects; gives the reason. */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/** Fails unless the promise rejects with an error of the class whose message includes the text; gives the error. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ErrorClass | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const expected = expectation(classOrMsg, msgIncludes, msg);
  let pending: PromiseLike<unknown>;
  try {
    pending = fn();
  } catch (error) {
    throw new AssertionError(`Function throws when expected to reject${suffix(expected.msg)}`, { cause: error });
  }
  try {
    await pending;
  } catch (error) {
    return checked(error, expected);
  }
  throw new AssertionError(`Expected function to reject${suffix(expected.msg)}`);
}

interface Expectation {
  readonly errorClass: ErrorClass | undefined;
  readonly msgIncludes: string | undefined;
  readonly msg: string | undefined;
}

function expectation(
  classOrMsg: ErrorClass | string | undefined,
  msgIncludes: string | undefined,
  msg: string | undefined,
): Expectation {
  if (typeof classOrMsg === "string") return { errorClass: undefined, msgIncludes: undefined, msg: classOrMsg };
  return { errorClass: classOrMsg, msgIncludes, msg };
}

function checked(error: unknown, expected: Expectation): unknown {
  if (expected.errorClass !== undefined) {
    assertIsError(error, expected.errorClass, expected.msgIncludes, expected.msg);
  }
  return error;
}

/** Fails always. */
export function fail(msg?: string): never {
  throw new AssertionError(`Failed assertion${suffix(msg)}`);
}

/** Fails always: the code that calls it must not be reached. */
export function unreachable(msg?: string): never {
  throw new AssertionError(`Unreachable${suffix(msg)}`);
}

/** Fails always: not written yet in a test double. */
export function unimplemented(msg?: string): never {
  throw new AssertionError(`Unimplemented${suffix(msg)}`);
}
