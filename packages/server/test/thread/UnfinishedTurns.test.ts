/**
 * A turn without an end in the log of a thread that is not loaded: the reads show it as it runs, and nothing that they say
 * is taken back by the process that loads the thread.
 */
import type { ApprovalRequest } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { type AppOptions, resultOf } from "../support/AppHarness.ts"
import { asking, exec, oneCall } from "../support/Asking.ts"
import { type Harness, settingsWith } from "../support/Harness.ts"
import { killed, sharedStore, withProcess } from "../support/Processes.ts"
import { command } from "../support/RunningCommands.ts"
import { at, started, turn } from "../support/Threading.ts"

type List = ReadonlyArray<unknown>

const patch: ApprovalRequest = {
  _tag: "Patch",
  callId: "c",
  changes: { "/work/a": { add: { content: "a" } } },
}

const dynamicTools = [
  { type: "function", name: "ask", description: "Asks.", inputSchema: { type: "object" } },
]

let asks = 0

const ask = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`read ${++asks}`, method, params), resultOf)

/** The turns of the thread, which all reads show alike. */
const turnsOf = Effect.fnUntraced(function* (app: Harness, threadId: string) {
  const read = yield* ask(app, "thread/read", { threadId, includeTurns: true })
  const turns = at(read, "thread", "turns") as List
  const listed = yield* ask(app, "thread/turns/list", {
    threadId,
    itemsView: "full",
    sortDirection: "asc",
  })
  assert.deepStrictEqual(at(listed, "data"), turns)
  const items = yield* ask(app, "thread/items/list", { threadId })
  assert.deepStrictEqual(
    (at(items, "data") as List).map((one) => at(one, "item")),
    turns.flatMap((one) => at(one, "items") as List),
  )
  return turns
})

const resumed = (app: Harness, threadId: string) =>
  Effect.map(
    ask(app, "thread/resume", { threadId }),
    (answer) => at(answer, "thread", "turns") as List,
  )

const itemsOf = (turns: List) => turns.flatMap((one) => at(one, "items") as List)
const idsOf = (turns: List) =>
  turns.map((one) => [at(one, "id"), ...(at(one, "items") as List).map((item) => at(item, "id"))])
const lastItem = (turns: List) => itemsOf(turns).at(-1)
const statusOf = (turns: List) => at(turns.at(-1), "status")

const hanging = ToolRuntime.simple({ specs: () => [], run: () => Effect.never })

/** What is open in the turn: its name, the type of its item, and the process that has it open. */
const open: ReadonlyArray<readonly [string, string, AppOptions, object?]> = [
  ["a command that runs", "commandExecution", { tools: command([], {}) }],
  ["a call of a client's tool", "dynamicToolCall", {}, { dynamicTools }],
  ["a question about a command", "commandExecution", { tools: asking([exec]).tools }],
  ["a question about a patch", "fileChange", { tools: asking([patch]).tools }],
]

/** Runs a turn until it waits; `body` gets what the process that has it shows. */
const waiting = <A, E>(
  [, , options, params = {}]: (typeof open)[number],
  body: (parts: {
    readonly app: Harness
    readonly threadId: string
    readonly turns: List
    readonly files: ReturnType<typeof sharedStore>
  }) => Effect.Effect<A, E>,
) => {
  const files = sharedStore()
  return withProcess({ script: oneCall, ...options, store: files.layer }, (app) =>
    Effect.gen(function* () {
      const threadId = yield* started(app, params)
      yield* TestClock.adjust("1 second")
      yield* turn(app, threadId)
      yield* app.quiet
      const turns = yield* turnsOf(app, threadId)
      yield* TestClock.adjust("1 second")
      return yield* body({ app, threadId, turns, files })
    }),
  )
}

/** The next process after a kill, which reads and then resumes the thread. */
const restarted = (
  kind: (typeof open)[number],
  onRestart: string,
  check: (parts: {
    readonly running: List
    readonly read: List
    readonly answered: List
    readonly later: List
  }) => void,
) =>
  waiting(kind, ({ files, threadId, turns: running }) =>
    Effect.flatMap(killed(files, threadId), ({ layer: store }) =>
      withProcess(
        {
          script: () => Script.reply(Script.hang),
          tools: hanging,
          ...kind[2],
          store,
          settings: settingsWith({ on_restart: onRestart }),
        },
        (app) =>
          Effect.gen(function* () {
            const read = yield* turnsOf(app, threadId)
            const answered = yield* resumed(app, threadId)
            yield* app.quiet
            check({ running, read, answered, later: yield* turnsOf(app, threadId) })
          }),
      ),
    ),
  )

describe("a turn without an end, of a thread that is not loaded", () => {
  for (const kind of open) {
    const [what, type] = kind
    const isQuestion = what.startsWith("a question")

    it.effect(`${what} is read as in the process that runs it`, () =>
      waiting(kind, ({ app, files, threadId, turns }) =>
        withProcess({ store: files.layer }, (other) =>
          Effect.gen(function* () {
            assert.strictEqual(at(lastItem(turns), "type"), type)
            assert.deepStrictEqual(yield* turnsOf(other, threadId), turns)
            const refused = yield* other.ask("no", "thread/resume", { threadId })
            assert.strictEqual(at(refused.error, "data", "reason"), "in_use")
            yield* app.ask("stop", "turn/interrupt", { threadId, turnId: at(turns[0], "id") })
            yield* app.quiet
            const ended = yield* turnsOf(other, threadId)
            assert.strictEqual(statusOf(ended), "interrupted")
            assert.deepStrictEqual(idsOf(ended), idsOf(turns))
            assert.deepStrictEqual(ended, yield* turnsOf(app, threadId))
          }),
        ),
      ),
    )

    for (const onRestart of ["close", "continue"]) {
      const goesOn = isQuestion || onRestart === "continue"
      it.effect(
        `${what} is read after a kill as it was, and ${goesOn ? "goes on" : "fails"} with on_restart = ${onRestart}`,
        () =>
          restarted(kind, onRestart, ({ answered, later, read, running }) => {
            assert.deepStrictEqual(read, running)
            assert.strictEqual(statusOf(read), "inProgress")
            assert.strictEqual(at(lastItem(read), "status"), "inProgress")
            if (isQuestion) {
              assert.deepStrictEqual(answered, read)
              assert.deepStrictEqual(later, read)
            } else if (goesOn) {
              // A call that may have taken effect asks before it runs again, as another item.
              for (const turns of [answered, later]) {
                assert.deepStrictEqual(itemsOf(turns).slice(0, itemsOf(read).length), itemsOf(read))
                assert.strictEqual(statusOf(turns), "inProgress")
              }
            } else {
              assert.deepStrictEqual(idsOf(answered), idsOf(read))
              assert.deepStrictEqual(later, answered)
              assert.deepInclude(answered.at(-1), { status: "interrupted", durationMs: 1000 })
              assert.deepInclude(lastItem(answered), { status: "failed" })
              assert.isNumber(at(lastItem(answered), "completedAtMs"))
            }
          }),
      )
    }
  }
})
