import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  type FileQuery,
  type FoundFile,
  HostFailed,
  HostPort,
} from "../../../src/app/ports/HostPort.ts"
import { errorOf, resultOf, withApp } from "../../support/AppHarness.ts"

const found = (path: string): FoundFile => ({ root: "/r", path, file_name: path, score: 1 })

/** Runs until it is ended, and then returns what it has found. */
const endless = (running: { count: number }) => ({
  ...HostPort.none,
  searchFiles: ({ query, until }: FileQuery) =>
    query === "broken"
      ? Effect.fail(new HostFailed({ message: "no lister" }))
      : query === "quick"
        ? Effect.succeed([found("a"), found("b")])
        : Effect.suspend(() => {
            running.count++
            return Effect.as(until, [found("half")])
          }).pipe(
            Effect.ensuring(
              Effect.sync(() => {
                running.count--
              }),
            ),
          ),
})

const params = (query: string, cancellationToken?: string | null) => ({
  query,
  roots: ["/r"],
  ...(cancellationToken === undefined ? {} : { cancellationToken }),
})

describe("fuzzyFileSearch", () => {
  it.effect("returns the best files first, and none for an empty query", () =>
    withApp({ ports: { host: endless({ count: 0 }) } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "fuzzyFileSearch", params("quick"))), {
          files: [found("a"), found("b")],
        })
        assert.deepStrictEqual(resultOf(yield* app.ask(2, "fuzzyFileSearch", params(""))), {
          files: [],
        })
      }),
    ),
  )

  it.effect(
    "a later search with the same token ends the earlier one, which returns what it has found",
    () => {
      const running = { count: 0 }
      return withApp({ ports: { host: endless(running) } }, (app) =>
        Effect.gen(function* () {
          const search = (id: number, query: string, token?: string | null) =>
            app.send({ id, method: "fuzzyFileSearch", params: params(query, token) })
          yield* search(1, "one", "t")
          yield* search(2, "two", "other")
          yield* search(3, "three")
          yield* search(4, "four", null)
          yield* app.quiet
          assert.strictEqual(running.count, 4)
          yield* search(5, "five", "t")
          assert.deepStrictEqual(resultOf(yield* app.response(1)), { files: [found("half")] })
          yield* app.quiet
          assert.strictEqual(running.count, 4)
          yield* search(6, "", "t")
          assert.deepStrictEqual(resultOf(yield* app.response(5)), { files: [found("half")] })
          assert.deepStrictEqual(resultOf(yield* app.response(6)), { files: [] })
        }),
      )
    },
  )

  it.effect.each([
    [params("broken"), -32603, "search failed: no lister"],
    [{ roots: [] }, -32600, "Invalid request: params.query: Missing key"],
    [{ query: "x" }, -32600, "Invalid request: params.roots: Missing key"],
    [{ query: "x", roots: "/" }, -32600, "Invalid request: params.roots"],
  ] as ReadonlyArray<readonly [sent: object, code: number, text: string]>)(
    "refuses %j",
    ([given, expected, text]) =>
      withApp({ ports: { host: endless({ count: 0 }) } }, (app) =>
        Effect.gen(function* () {
          const { code, message } = errorOf(yield* app.ask(1, "fuzzyFileSearch", given))
          assert.strictEqual(code, expected)
          assert.isTrue(String(message).startsWith(text), String(message))
        }),
      ),
  )
})
