import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  cancelled,
  type Harness,
  type HarnessOptions,
  listed,
  toolCall,
  withServer,
} from "../support/Harness.ts"
import { callResult, textOf, threadOf, typesOf } from "../support/Wire.ts"

/** The first response of the model takes one second. */
const slow = Script.reply(Script.bareDeltas("…"), Script.delay("1 second"), Script.text("one"))

const inOrder: Script.ProviderScript = [
  slow,
  Script.reply(Script.text("two")),
  Script.reply(Script.text("three")),
]

const responses = ({ messages }: Harness, id: unknown) =>
  messages.filter((message) => message.method === undefined && message.id === id)

/** Runs `body` while call 2 runs its turn; `reply` makes further calls in the same conversation. */
const whileOneRuns = <A, E>(
  body: (
    server: Harness,
    reply: (id: unknown, how: string | undefined, prompt?: string) => Effect.Effect<void>,
  ) => Effect.Effect<A, E, Scope.Scope>,
  options: HarnessOptions = {},
) =>
  withServer({ script: inOrder, ...options }, (server) =>
    Effect.gen(function* () {
      yield* server.send(toolCall(2, "codex", { prompt: "first" }))
      yield* server.quiet
      const [threadId] = yield* listed(server.manager)
      const reply = (id: unknown, how: string | undefined, prompt = "more") =>
        Effect.andThen(
          server.send(
            toolCall(id, "codex-reply", {
              threadId,
              prompt,
              ...(how === undefined ? {} : { "while-running": how }),
            }),
          ),
          server.quiet,
        )
      return yield* body(server, reply)
    }),
  )

const end = (server: Harness) => Effect.andThen(TestClock.adjust("1 second"), server.quiet)

const answers = (server: Harness, ...ids: ReadonlyArray<unknown>) =>
  ids.map((id) =>
    responses(server, id).map((message) => [textOf(message), callResult(message).isError ?? false]),
  )

describe("codex-reply: while-running", () => {
  it.effect.each([undefined, "wait"])(
    "%s: the later call runs its own turn after the first; each gets one response",
    (how) =>
      whileOneRuns((server, reply) =>
        Effect.gen(function* () {
          yield* reply(3, how)
          yield* reply(4, how)
          assert.strictEqual((yield* server.provider.requests).length, 1)
          yield* end(server)
          assert.deepStrictEqual(answers(server, 2, 3, 4), [
            [["one", false]],
            [["two", false]],
            [["three", false]],
          ])
        }),
      ),
  )

  it.effect.each(["steer", "queue"])(
    "%s: the message joins the running turn, and both calls get that turn's result once",
    (how) =>
      whileOneRuns((server, reply) =>
        Effect.gen(function* () {
          yield* reply(3, how, "and mind this")
          assert.deepStrictEqual(answers(server, 2, 3), [[], []])
          yield* end(server)
          assert.deepStrictEqual(answers(server, 2, 3), [[["two", false]], [["two", false]]])
          const requests = yield* server.provider.requests
          assert.strictEqual(requests.length, 2)
          assert.include(JSON.stringify(requests[1]), "and mind this")
          assert.strictEqual(
            typesOf(server.messages, 2).filter((type) => type === "task_complete").length,
            1,
          )
          for (const id of [2, 3]) {
            const last = server.messages.filter(
              ({ id: answered, params }) =>
                answered === id ||
                (params?.["_meta"] as { readonly requestId?: unknown })?.requestId === id,
            )
            assert.isUndefined(last.at(-1)?.method, `L2 call ${id}: nothing follows its result`)
          }
          const [two, three] = [responses(server, 2)[0], responses(server, 3)[0]]
          assert.isTrue(two !== undefined && three !== undefined)
          if (two !== undefined && three !== undefined) {
            assert.strictEqual(threadOf(two), threadOf(three))
          }
        }),
      ),
  )

  it.effect(
    "interrupt: the first call is answered with the interruption, the later runs next",
    () =>
      whileOneRuns((server, reply) =>
        Effect.gen(function* () {
          yield* reply(3, "wait")
          yield* reply(4, "interrupt")
          yield* end(server)
          assert.deepStrictEqual(answers(server, 2, 3, 4), [
            [["Turn interrupted", true]],
            [["three", false]],
            [["two", false]],
          ])
        }),
      ),
  )

  it.effect("reject: the later call fails at once and the first continues", () =>
    whileOneRuns((server, reply) =>
      Effect.gen(function* () {
        yield* reply(3, "reject")
        assert.deepStrictEqual(answers(server, 2, 3), [[], [["turn `2` is running", true]]])
        yield* end(server)
        assert.deepStrictEqual(answers(server, 2), [[["one", false]]])
      }),
    ),
  )

  it.effect.each<readonly [how: string, answer: string, isError: boolean]>([
    ["wait", "two", false],
    ["queue", "two", false],
    ["interrupt", "two", false],
    ["reject", "two", false],
    ["steer", "no turn is running", true],
  ])("%s with no turn running is answered %j", ([how, answer, isError]) =>
    whileOneRuns((server, reply) =>
      Effect.gen(function* () {
        yield* end(server)
        yield* reply(3, how)
        assert.deepStrictEqual(answers(server, 3), [[[answer, isError]]])
      }),
    ),
  )

  it.effect("a call that joins gets every section of the reasoning that is received", () => {
    const part = Script.event({ type: "response.reasoning_summary_part.added" })
    const piece = (delta: string) =>
      Script.event({ type: "response.reasoning_summary_text.delta", delta })
    const thinking = [part, piece("on"), piece("e"), part, piece("two")]
    const first = Script.reply(...thinking, Script.delay("1 second"), Script.text("one"))
    return whileOneRuns(
      (server, reply) =>
        Effect.gen(function* () {
          yield* reply(3, "steer")
          const thoughts = server.messages.flatMap(({ params }) => {
            const { _meta: meta, msg } = (params ?? {}) as {
              readonly _meta?: { readonly requestId?: unknown }
              readonly msg?: { readonly type: string; readonly delta?: string }
            }
            const isOf = meta?.requestId === 3 && msg?.type.startsWith("agent_reasoning") === true
            return isOf ? [msg?.delta ?? msg?.type] : []
          })
          assert.deepStrictEqual(thoughts, ["one", "agent_reasoning_section_break", "two"])
          yield* end(server)
        }),
      { script: [first, ...inOrder.slice(1)] },
    )
  })

  it.effect("a call that joined and is cancelled leaves the turn to the call that runs it", () =>
    whileOneRuns((server, reply) =>
      Effect.gen(function* () {
        yield* reply(3, "steer")
        yield* server.send(cancelled(3))
        yield* server.quiet
        yield* end(server)
        assert.deepStrictEqual(answers(server, 2, 3), [[["two", false]], []])
        assert.notInclude(typesOf(server.messages, 2), "turn_aborted")
      }),
    ),
  )

  it.effect(
    "the call that runs the turn is cancelled: the one that joined gets that as its result",
    () =>
      whileOneRuns((server, reply) =>
        Effect.gen(function* () {
          yield* reply(3, "steer")
          yield* server.send(cancelled(2))
          yield* server.quiet
          assert.deepStrictEqual(answers(server, 2, 3), [[], [["Turn interrupted", true]]])
        }),
      ),
  )

  it.effect("another client joins, and its end withdraws no question of the first", () =>
    whileOneRuns((server) =>
      Effect.gen(function* () {
        const [threadId] = yield* listed(server.manager)
        const join = { threadId, prompt: "me too", "while-running": "steer" }
        const other = yield* server.another
        const third = yield* server.another
        yield* other.send(toolCall(2, "codex-reply", join))
        yield* third.send(toolCall(2, "codex-reply", join))
        yield* server.quiet
        yield* third.connection.drop
        yield* TestClock.adjust("2 seconds")
        yield* server.quiet
        assert.deepStrictEqual(
          [answers(server, 2), answers(other, 2)],
          [[[["two", false]]], [[["two", false]]]],
        )
      }),
    ),
  )

  it.effect.each<readonly [value: unknown, text: string]>([
    [
      "stear",
      "unknown variant `stear`, expected one of `wait`, `steer`, `queue`, `interrupt`, `reject`, did you mean `steer`? (field `while-running`)",
    ],
    [
      true,
      "invalid type: boolean `true`, expected one of `wait`, `steer`, `queue`, `interrupt`, `reject` (field `while-running`)",
    ],
  ])("%j is refused with what was expected", ([value, text]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const args = { threadId: "x", prompt: "x", "while-running": value }
        const answer = yield* server.call(1, "codex-reply", args)
        assert.include(textOf(answer), text)
      }),
    ),
  )

  it.effect("a misspelt name is refused with the nearest one", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const args = { threadId: "x", prompt: "x", while_running: "steer" }
        const answer = yield* server.call(1, "codex-reply", args)
        assert.include(
          textOf(answer),
          "unknown field `while_running`, did you mean `while-running`?",
        )
      }),
    ),
  )
})
