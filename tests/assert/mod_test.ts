import * as t from "@std/assert";

/** That a check passes and that its opposite fails with an AssertionError whose message has the text. */
function failsWith(fn: () => unknown, text: string): void {
  try {
    fn();
  } catch (error) {
    if (!(error instanceof t.AssertionError)) throw error;
    if (error.message.includes(text)) return;
    throw new Error(`the message is ${JSON.stringify(error.message)} and lacks ${JSON.stringify(text)}`);
  }
  throw new Error(`nothing was thrown; wanted ${JSON.stringify(text)}`);
}

async function rejectsWith(fn: () => Promise<unknown>, text: string): Promise<void> {
  let settled: () => unknown;
  try {
    await fn();
    settled = () => {};
  } catch (error) {
    settled = () => {
      throw error;
    };
  }
  failsWith(settled, text);
}

class CustomError extends Error {
  readonly code = "E_CUSTOM";
}

Deno.test("assert() and assertFalse()", () => {
  t.assert(1);
  t.assertFalse("");
  failsWith(() => t.assert(0, "zero"), "zero");
  failsWith(() => t.assertFalse("x", "text"), "text");
});

Deno.test("assertEquals() compares by type and content", () => {
  const shared = { a: [1, new Map([["k", new Set([1])]])], d: new Date(0), b: new Uint8Array([1, 2]) };
  t.assertEquals(shared, structuredClone(shared));
  t.assertEquals(NaN, NaN);
  t.assertEquals(0, -0);
  for (
    const [a, b] of [[1, "1"], [{ a: 1 }, { a: 1, b: undefined }], [[1], [1, 2]], [null, undefined], [{}, []]] as const
  ) {
    failsWith(() => t.assertEquals<unknown>(a, b, "why"), "Values are not equal: why");
    t.assertNotEquals<unknown>(a, b);
  }
  failsWith(() => t.assertNotEquals([1], [1]), "Values are equal");
});

Deno.test("assertStrictEquals() compares identities", () => {
  const value = {};
  t.assertStrictEquals(value, value);
  t.assertNotStrictEquals({}, {});
  failsWith(() => t.assertStrictEquals({}, {}), "not the same");
  failsWith(() => t.assertNotStrictEquals(1, 1), "the same");
});

Deno.test("assertExists() and assertInstanceOf() narrow", () => {
  const maybe: string | undefined = ["x"].at(0);
  t.assertExists(maybe);
  t.assertStrictEquals(maybe.length, 1);
  failsWith(() => t.assertExists(null), "Value is null");
  const error: unknown = new CustomError("x");
  t.assertInstanceOf(error, CustomError);
  t.assertStrictEquals(error.code, "E_CUSTOM");
  failsWith(() => t.assertInstanceOf(new Error("x"), CustomError), "CustomError");
});

Deno.test("assertMatch(), assertStringIncludes() and assertArrayIncludes()", () => {
  t.assertMatch("abc", /b/);
  t.assertNotMatch("abc", /d/);
  t.assertStringIncludes("abc", "bc");
  t.assertArrayIncludes([{ a: 1 }, { a: 2 }], [{ a: 2 }]);
  failsWith(() => t.assertMatch("abc", /d/), "does not match");
  failsWith(() => t.assertNotMatch("abc", /b/), "matches");
  failsWith(() => t.assertStringIncludes("abc", "d"), "does not include");
  failsWith(() => t.assertArrayIncludes([{ a: 1 }], [{ a: 2 }]), "does not include");
});

Deno.test("assertObjectMatch() ignores members that are not asked for, at any depth", () => {
  const actual = { a: 1, b: { c: [{ d: 1, e: 2 }], f: new Map([[1, 2]]) } };
  t.assertObjectMatch(actual, { b: { c: [{ d: 1 }] } });
  t.assertObjectMatch(actual, { b: { f: new Map([[1, 2]]) } });
  t.assertObjectMatch(actual, {});
  failsWith(() => t.assertObjectMatch(actual, { b: { c: [{ d: 2 }] } }), "not equal");
  failsWith(() => t.assertObjectMatch(actual, { b: { c: [] } }), "not equal");
  failsWith(() => t.assertObjectMatch(actual, { z: undefined }), "not equal");
});

Deno.test("the comparisons of size fail at their limit", () => {
  t.assertGreater(2, 1);
  t.assertGreaterOrEqual(1, 1);
  t.assertLess(1, 2);
  t.assertLessOrEqual(1, 1);
  t.assertAlmostEquals(0.1 + 0.2, 0.3);
  t.assertAlmostEquals(1, 1.5, 0.5);
  failsWith(() => t.assertGreater(1, 1), "not >");
  failsWith(() => t.assertGreaterOrEqual(0, 1), "not >=");
  failsWith(() => t.assertLess(1, 1), "not <");
  failsWith(() => t.assertLessOrEqual(2, 1), "not <=");
  failsWith(() => t.assertLess(NaN, 1), "not <");
  failsWith(() => t.assertAlmostEquals(1, 1.6, 0.5), "not within");
});

Deno.test("assertThrows() gives the error and checks class and message", () => {
  const error = t.assertThrows(() => fail("some text"), CustomError, "some");
  t.assertStrictEquals(error.code, "E_CUSTOM");
  t.assertStrictEquals(t.assertThrows(() => throwing("not an error")), "not an error");
  failsWith(() => t.assertThrows(() => {}, "why"), "Expected function to throw: why");
  failsWith(() => t.assertThrows(() => fail("x"), TypeError), "Expected TypeError");
  failsWith(() => t.assertThrows(() => fail("x"), CustomError, "y"), 'does not have "y"');
  failsWith(() => t.assertThrows(() => throwing("text"), Error), "Not an Error");
});

Deno.test("assertRejects() gives the error and checks class and message", async () => {
  const error = await t.assertRejects(() => Promise.reject(new CustomError("some text")), CustomError, "some");
  t.assertStrictEquals(error.code, "E_CUSTOM");
  t.assertStrictEquals(await t.assertRejects(() => Promise.reject("text")), "text");
  await rejectsWith(() => t.assertRejects(() => Promise.resolve(), "why"), "Expected function to reject: why");
  await rejectsWith(() => t.assertRejects(() => fail("x")), "throws when expected to reject");
  await rejectsWith(() => t.assertRejects(() => Promise.reject(new Error("x")), CustomError), "Expected CustomError");
  await rejectsWith(() => t.assertRejects(() => Promise.reject(new Error("x")), Error, "y"), 'does not have "y"');
});

Deno.test("assertIsError() checks by text and by pattern", () => {
  t.assertIsError(new CustomError("abc"), CustomError, /b/);
  failsWith(() => t.assertIsError(new CustomError("abc"), CustomError, /d/), "does not have");
  failsWith(() => t.assertIsError("abc"), "Not an Error");
});

Deno.test("fail(), unreachable() and unimplemented() always fail", () => {
  failsWith(() => t.fail("why"), "Failed assertion: why");
  failsWith(() => t.unreachable(), "Unreachable");
  failsWith(() => t.unimplemented("later"), "Unimplemented: later");
});

function fail(message: string): never {
  throw new CustomError(message);
}

function throwing(value: unknown): never {
  throw value;
}
