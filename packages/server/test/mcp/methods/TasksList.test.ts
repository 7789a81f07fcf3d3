import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Harness, withServer } from "../../support/Harness.ts"
import type { WireMessage } from "../../support/Wire.ts"
import {
  about,
  asked,
  callAsTask,
  decided,
  listed,
  member,
  refused,
  taskIdIn,
} from "../../support/Tasking.ts"

const unknownId = "00000000-0000-7000-8000-000000000000"

/** That many tasks, which fail at once. */
const makeTasks = (server: Harness, count: number) =>
  Effect.forEach(Array.from({ length: count }), (_, index) =>
    Effect.map(
      callAsTask(server, asked, `t${index}`, "codex-reply", { threadId: unknownId, prompt: "x" }),
      taskIdIn,
    ),
  )

const idsIn = (page: WireMessage): ReadonlyArray<unknown> =>
  listed(page).map(({ taskId }) => taskId)

const badCursor = [
  -32602,
  "Invalid params: params.cursor: expected the nextCursor of an earlier page of this list",
]

describe("tasks/list", () => {
  it.effect("returns no tasks when there are none", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        assert.deepStrictEqual((yield* about(server, asked)("tasks/list", {})).result, {
          tasks: [],
        })
      }),
    ),
  )

  it.effect(
    "lists all tasks, oldest first, in the form of tasks/get, on as many pages as needed",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          yield* asked.hello(server)
          const ids = yield* makeTasks(server, 150)
          yield* server.quiet
          const ask = about(server, asked)
          const first = yield* ask("tasks/list", {})
          const second = yield* ask("tasks/list", { cursor: member(first, "nextCursor") })
          assert.deepStrictEqual([...idsIn(first), ...idsIn(second)], ids)
          assert.deepStrictEqual(
            [idsIn(first).length, member(second, "nextCursor")],
            [100, undefined],
          )
          assert.deepStrictEqual(
            listed(first)[0],
            (yield* ask("tasks/get", { taskId: ids[0] })).result,
          )
        }),
      ),
  )

  it.effect("refuses a cursor that it did not return", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        yield* makeTasks(server, 101)
        const ask = about(server, asked)
        const cursor = String((yield* ask("tasks/list", {})).result?.["nextCursor"])
        for (const bad of ["", "0", "100", `${cursor}A`, cursor.slice(1), "é"]) {
          assert.deepStrictEqual(refused(yield* ask("tasks/list", { cursor: bad })), badCursor)
        }
        assert.strictEqual((yield* ask("tasks/list", { cursor: 7 })).error?.code, -32602)
        assert.strictEqual((yield* ask("tasks/list", { cursor })).error, undefined)
      }),
    ),
  )

  it.effect("is not a method of 2026-07-28", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* about(server, decided)("tasks/list", {})
        assert.strictEqual(answer.error?.code, -32601)
      }),
    ),
  )
})
