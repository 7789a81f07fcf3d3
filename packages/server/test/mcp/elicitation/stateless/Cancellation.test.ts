import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { asking, type Asked, exec, oneCall } from "../../../support/Asking.ts"
import { cancelled, type Harness, listed, withServer } from "../../../support/Harness.ts"
import { heldSealer, type HeldSealer } from "../../../support/HeldSealer.ts"
import { saying } from "../../../support/Stateless.ts"
import { textOf } from "../../../support/Wire.ts"

const codex = (more: Readonly<Record<string, unknown>> = {}) =>
  saying({ name: "codex", arguments: { prompt: "ask" }, ...more }, { elicitation: {} })

const call = (id: number, params: unknown) => ({ jsonrpc: "2.0", id, method: "tools/call", params })

const withHeld = <A, E>(
  asked: Asked,
  body: (server: Harness, sealer: HeldSealer) => Effect.Effect<A, E, Scope.Scope>,
) => {
  const sealer = heldSealer()
  return withServer({ script: oneCall, tools: asked.tools, sealer: sealer.layer }, (server) =>
    body(server, sealer),
  )
}

/** The question in the response to the first request, with an answer that accepts it. */
const asksFirst = (server: Harness) =>
  Effect.map(server.ask(1, "tools/call", codex()), ({ result }) => {
    const { inputRequests, requestState } = result as {
      readonly inputRequests: Readonly<Record<string, unknown>>
      readonly requestState: string
    }
    const yes = { action: "accept", content: { decision: "approved" } }
    const [key = ""] = Object.keys(inputRequests)
    return { requestState, inputResponses: { [key]: yes } }
  })

/** The outcome of call `id` and of the only turn. */
const outcome = (server: Harness, asked: Asked, id: number) =>
  Effect.gen(function* () {
    const [only] = yield* listed(server.manager)
    const conversation = yield* Effect.orDie(server.manager.get(only ?? ConversationId.make("")))
    const { turn } = yield* Effect.orDie(conversation.state)
    const answers = server.messages.filter((one) => one.method === undefined && one.id === id)
    return { answers, turn, verdicts: asked.verdicts.map(({ decision }) => decision) }
  })

const stopped = { answers: [], turn: undefined, verdicts: ["denied" as const] }

describe("notifications/cancelled of a call without a handshake", () => {
  it.effect("L14 interrupts the turn while the returned state is being opened", () => {
    const asked = asking([exec])
    return withHeld(asked, (server, { opens }) =>
      Effect.gen(function* () {
        const answer = yield* asksFirst(server)
        yield* opens.close
        yield* server.send(call(2, codex(answer)))
        yield* server.quiet
        yield* server.send(cancelled(2))
        yield* server.quiet
        yield* opens.open
        yield* server.quiet
        assert.deepStrictEqual(yield* outcome(server, asked, 2), stopped)
      }),
    )
  })

  it.effect("sends nothing for an invalid state while it is being opened", () => {
    const asked = asking([exec])
    return withHeld(asked, (server, { opens }) =>
      Effect.gen(function* () {
        const answer = yield* asksFirst(server)
        yield* opens.close
        yield* server.send(call(2, codex({ ...answer, requestState: `x${answer.requestState}` })))
        yield* server.quiet
        yield* server.send(cancelled(2))
        yield* server.quiet
        yield* opens.open
        yield* server.quiet
        const { answers, turn, verdicts } = yield* outcome(server, asked, 2)
        assert.deepStrictEqual([answers, turn !== undefined, verdicts], [[], true, []])
      }),
    )
  })

  it.effect("L14 interrupts the turn while the state of its question is being sealed", () => {
    const asked = asking([exec])
    return withHeld(asked, (server, { seals }) =>
      Effect.gen(function* () {
        yield* seals.close
        yield* server.send(call(1, codex()))
        yield* server.quiet
        yield* server.send(cancelled(1))
        yield* server.quiet
        yield* seals.open
        yield* server.quiet
        assert.deepStrictEqual(yield* outcome(server, asked, 1), stopped)
      }),
    )
  })

  it.effect("L14 interrupts the turn when the cancellation crosses the question", () => {
    const asked = asking([exec])
    return withHeld(asked, (server) =>
      Effect.gen(function* () {
        const late = yield* asksFirst(server)
        yield* server.send(cancelled(1))
        yield* server.quiet
        const { turn, verdicts } = yield* outcome(server, asked, 1)
        assert.deepStrictEqual([turn, verdicts], [undefined, stopped.verdicts])
        const answer = yield* server.ask(2, "tools/call", codex(late))
        assert.isTrue(answer.result?.["isError"])
        assert.strictEqual(textOf(answer), "Turn interrupted")
      }),
    )
  })

  it.effect("of a call whose id another call uses meanwhile: the turn continues", () => {
    const asked = asking([exec])
    return withHeld(asked, (server) =>
      Effect.gen(function* () {
        const answer = yield* asksFirst(server)
        yield* server.ask(1, "tools/call", saying({ name: "no-such-tool" }))
        yield* server.send(cancelled(1))
        yield* server.quiet
        const { result } = yield* server.ask(2, "tools/call", codex(answer))
        assert.deepStrictEqual(
          [result?.["resultType"], asked.verdicts.map(({ decision }) => decision)],
          ["complete", ["approved"]],
        )
      }),
    )
  })
})

describe("the end of the connection", () => {
  it.effect(
    "L14 interrupts the turn while the state of its question is being sealed: no client got it",
    () => {
      const asked = asking([exec])
      return withHeld(asked, (server, { seals }) =>
        Effect.gen(function* () {
          yield* seals.close
          yield* server.send(call(1, codex()))
          yield* server.quiet
          yield* server.connection.close
          yield* server.quiet
          yield* TestClock.adjust("500 millis")
          yield* server.quiet
          const { turn, verdicts } = yield* outcome(server, asked, 1)
          assert.deepStrictEqual([turn, verdicts], [undefined, stopped.verdicts])
        }),
      )
    },
  )
})
