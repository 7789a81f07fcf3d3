import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
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
