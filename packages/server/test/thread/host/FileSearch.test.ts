import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { type FileQuery, HostPort } from "../../../src/app/ports/HostPort.ts"
import { errorOf, resultOf } from "../../support/AppHarness.ts"
import { lines, told, withThreads } from "../../support/Threading.ts"

const found = { root: "/r", path: "a/b", file_name: "b", score: 9, indices: [2] }
const match = { ...found, match_type: "file" }

const searching = () => {
  const queries: Array<FileQuery> = []
  const host = HostPort.of({
    ...HostPort.none,
    searchFiles: (query) =>
      Effect.suspend(() => {
        queries.push(query)
        return query.query === "slow" ? Effect.never : Effect.succeed([found])
      }),
    gitDiffToRemote: () => Effect.succeed({ sha: "abc", diff: "" }),
  })
  return { host, queries }
}

describe("fuzzyFileSearch", () => {
  it.effect("says what kind each match has", () =>
    withThreads({ ports: searching() }, (app) =>
      Effect.gen(function* () {
        const params = { query: "b", roots: ["/r"] }
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "fuzzyFileSearch", params)), {
          files: [match],
        })
      }),
    ),
  )
})

/** Ends a second after it is interrupted, as a program does that is sent a signal. */
const slowToEnd = Effect.onInterrupt(Effect.never, () => Effect.sleep("1 second"))

describe("fuzzyFileSearch sessions", () => {
  it.effect("notify the results of the last query after its response", () =>
    withThreads({ ports: searching() }, (app) =>
      Effect.gen(function* () {
        const start = { sessionId: "s", roots: ["/r"] }
        const update = (id: number, query: string, sessionId = "s") =>
          app.ask(id, "fuzzyFileSearch/sessionUpdate", { sessionId, query })
        assert.deepStrictEqual(
          resultOf(yield* app.ask(1, "fuzzyFileSearch/sessionStart", start)),
          {},
        )
        assert.deepStrictEqual(resultOf(yield* update(2, "slow")), {})
        yield* app.quiet
        const before = app.messages.length
        assert.deepStrictEqual(resultOf(yield* update(3, "b")), {})
        yield* app.quiet
        assert.deepStrictEqual(lines(app, before), [
          "answer 3",
          "fuzzyFileSearch/sessionUpdated",
          "fuzzyFileSearch/sessionCompleted",
        ])
        assert.deepStrictEqual(told(app, "fuzzyFileSearch/sessionUpdated"), [
          { sessionId: "s", query: "b", files: [match] },
        ])
        const stop = yield* app.ask(4, "fuzzyFileSearch/sessionStop", { sessionId: "s" })
        assert.deepStrictEqual(resultOf(stop), {})
        assert.deepStrictEqual(errorOf(yield* update(5, "b")), {
          code: -32600,
          message: "fuzzy file search session not found: s",
        })
        const empty = yield* app.ask(6, "fuzzyFileSearch/sessionStart", { ...start, sessionId: "" })
        assert.include(errorOf(empty).message, "sessionId")
      }),
    ),
  )

  it.effect("two updates close together notify the results of the later one only", () => {
    const { host } = searching()
    const late = Effect.delay(Effect.succeed([found]), "3 seconds")
    const searchFiles: typeof host.searchFiles = ({ query }) =>
      query === "slow" ? slowToEnd : query === "late" ? late : Effect.succeed([found])
    return withThreads({ ports: { host: { ...host, searchFiles } } }, (app) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const start = { sessionId: "s", roots: ["/r"] }
        yield* app.ask(1, "fuzzyFileSearch/sessionStart", start)
        const update = (id: number, query: string) =>
          app.ask(id, "fuzzyFileSearch/sessionUpdate", { sessionId: "s", query })
        yield* update(2, "slow")
        yield* app.quiet
        yield* Effect.forkChild(update(3, "late"), { startImmediately: true })
        yield* Effect.forkChild(update(4, "b"), { startImmediately: true })
        yield* app.quiet
        yield* TestClock.adjust("1 second")
        yield* app.quiet
        yield* TestClock.adjust("3 seconds")
        yield* app.quiet
        assert.deepStrictEqual(told(app, "fuzzyFileSearch/sessionUpdated"), [
          { sessionId: "s", query: "b", files: [match] },
        ])
      }),
    )
  })

  it.effect("a search does not begin in a session that has been stopped meanwhile", () => {
    const { host } = searching()
    const searchFiles: typeof host.searchFiles = ({ query }) =>
      query === "slow" ? slowToEnd : Effect.succeed([found])
    return withThreads({ ports: { host: { ...host, searchFiles } } }, (app) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        yield* app.ask(1, "fuzzyFileSearch/sessionStart", { sessionId: "s", roots: ["/r"] })
        const update = (id: number, query: string) =>
          app.ask(id, "fuzzyFileSearch/sessionUpdate", { sessionId: "s", query })
        yield* update(2, "slow")
        yield* app.quiet
        yield* Effect.forkChild(update(3, "b"), { startImmediately: true })
        yield* Effect.forkChild(app.ask(4, "fuzzyFileSearch/sessionStop", { sessionId: "s" }), {
          startImmediately: true,
        })
        yield* app.quiet
        yield* TestClock.adjust("1 second")
        yield* app.quiet
        yield* TestClock.adjust("1 second")
        yield* app.quiet
        const shown = lines(app, 0)
        assert.notInclude(
          shown.slice(shown.indexOf("answer 4")),
          "fuzzyFileSearch/sessionUpdated",
          shown.join("\n"),
        )
      }),
    )
  })
})

describe("gitDiffToRemote", () => {
  it.effect("reports the diff", () =>
    withThreads({ ports: searching() }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "gitDiffToRemote", { cwd: "/r" })), {
          sha: "abc",
          diff: "",
        })
      }),
    ),
  )
})
