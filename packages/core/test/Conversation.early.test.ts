import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { Conversation } from "../src/Conversation.ts"
import { ConversationUnavailable } from "../src/ConversationErrors.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { StoreError } from "../src/StoreErrors.ts"
import type { ToolRuntime } from "../src/ToolRuntime.ts"
import { observed } from "./stores.ts"
import {
  answer,
  assistantItem,
  callItem,
  completed,
  done,
  durableOf,
  endings,
  type Script,
  isEnd,
  managerLayer,
  outputItem,
  says,
  scripted,
  type Response,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  tools,
  typesOf,
  userItem,
} from "./support.ts"

interface Parts {
  readonly conversation: Conversation
  readonly manager: ConversationManager["Service"]
  readonly script: Script
  readonly store: ReturnType<typeof observed>
  /** The ids of the calls that ran. */
  readonly ran: ReadonlyArray<string>
  /** From now on an append waits until the gate opens, and fails with its error. */
  readonly hold: (gate: Deferred.Deferred<void, StoreError>) => void
}

/** Runs with a conversation whose tool `touch` says which of its calls ran. */
const withConversation = <A, E>(
  responses: ReadonlyArray<Response>,
  use: (parts: Parts) => Effect.Effect<A, E>,
  isReadOnly = false,
) => {
  const store = observed()
  const script = scripted(...responses)
  const ran: Array<string> = []
  const simple = tools({
    touch: ({ call_id }) => Effect.sync(() => `touched ${ran.push(call_id ?? "")}`),
  })
  const service: ToolRuntime["Service"] = {
    ...simple,
    open: (context) =>
      Effect.map(simple.open(context), (opened) => ({ ...opened, isReadOnly: () => isReadOnly })),
  }
  return Effect.gen(function* () {
    const manager = yield* ConversationManager
    const conversation = yield* manager.create(settings)
    const hold: Parts["hold"] = (gate) => {
      store.faults.append = (_, really) => Effect.andThen(Deferred.await(gate), really)
    }
    return yield* use({ conversation, manager, script, store, ran, hold })
  }).pipe(Effect.provide(managerLayer(script, { store: store.layer, tools: service })))
}

const full = new StoreError({ operation: "append", reason: "Full", message: "no space left" })

/** The model answers once it is allowed to. */
const after = (go: Deferred.Deferred<void>, text: string) =>
  Stream.unwrap(Effect.as(Deferred.await(go), Stream.fromIterable(answer(text))))

const lastOf = <A>(items: ReadonlyArray<A> | undefined) => items?.at(-1)

describe("a turn whose start is being recorded", () => {
  for (const isReadOnly of [false, true]) {
    const kind = isReadOnly ? "read-only" : "writing"
    it.effect(`L10 has sent its request, and no event is delivered and no ${kind} tool runs`, () =>
      withConversation(
        [[done(callItem("touch", "c")), completed], answer("yes")],
        ({ conversation, hold, ran, script }) =>
          Effect.scoped(
            Effect.gen(function* () {
              const listener = yield* conversation.attach()
              yield* takeUntil(listener, ({ _tag }) => _tag === "Synced")
              const gate = yield* Deferred.make<void, StoreError>()
              hold(gate)
              const submitting = yield* Effect.forkChild(conversation.submit(says("hi")))
              const taking = yield* Effect.forkChild(takeUntil(listener, isEnd))
              yield* settle
              assert.deepStrictEqual(lastOf(script.requests)?.input.at(-1), userItem("hi"))
              assert.strictEqual(script.requests.length, 1)
              assert.deepStrictEqual(
                [submitting.pollUnsafe(), taking.pollUnsafe(), ran],
                [undefined, undefined, []],
              )
              const state = yield* conversation.state
              assert.strictEqual(state.turn, undefined)
              assert.strictEqual(state.seq, 2)
              const late = yield* conversation.attach({ from: 0 })
              assert.deepStrictEqual(typesOf(yield* late.take), [
                "session_configured",
                "raw_response_item",
              ])
              yield* Deferred.succeed(gate, undefined)
              assert.deepStrictEqual(yield* Fiber.join(submitting), {
                id: "0",
                disposition: "started",
              })
              const seen = durableOf(yield* Fiber.join(taking))
              assert.deepStrictEqual(
                seen.map(({ seq }) => seq),
                seen.map((_, index) => index + 2),
              )
              assert.deepStrictEqual(ran, ["c"])
              assert.deepStrictEqual(script.requests[1]?.input.slice(-3), [
                userItem("hi"),
                callItem("touch", "c"),
                outputItem("c", "touched 1"),
              ])
              assert.deepStrictEqual(endings(seen, "0"), { terminal: ["task_complete"], after: [] })
            }),
          ),
        isReadOnly,
      ),
    )
  }

  it.effect("L10 is interrupted when it cannot be recorded, and nothing of it is seen", () => {
    let interrupted = 0
    const answering = Stream.onExit(
      Stream.concat(Stream.fromIterable([done(callItem("touch", "c"))]), Stream.never),
      () => Effect.sync(() => interrupted++),
    )
    return withConversation(
      [answering, answer("yes")],
      ({ conversation, hold, ran, script, store }) =>
        Effect.scoped(
          Effect.gen(function* () {
            const listener = yield* conversation.attach({ from: 0 })
            const before = store.records(conversation.id)
            const gate = yield* Deferred.make<void, StoreError>()
            hold(gate)
            const submitting = yield* Effect.forkChild(
              Effect.flip(conversation.submit(says("lost"), { id: "mine" })),
            )
            yield* settle
            assert.strictEqual(script.requests.length, 1)
            assert.strictEqual(interrupted, 0)
            yield* Deferred.fail(gate, full)
            assert.deepStrictEqual(
              yield* Fiber.join(submitting),
              new ConversationUnavailable({
                id: conversation.id,
                reason: full.message,
                because: full,
              }),
            )
            assert.deepStrictEqual(typesOf(yield* takeToEnd(listener)), [
              "session_configured",
              "raw_response_item",
            ])
            yield* settle
            assert.deepStrictEqual([interrupted, ran], [1, []])
            assert.deepStrictEqual(store.records(conversation.id), before)
            delete store.faults.append
            const again = yield* conversation.attach({ from: 0 })
            assert.deepStrictEqual(yield* conversation.submit(says("again"), { id: "mine" }), {
              id: "mine",
              disposition: "started",
            })
            const seen = durableOf(yield* takeUntil(again, isEnd))
            assert.deepStrictEqual(
              seen.map(({ seq }) => seq),
              [...seen.keys()],
            )
            assert.deepStrictEqual(script.requests[1]?.input.slice(1), [userItem("again")])
          }),
        ),
    )
  })

  it.effect("sends its request with the settings and the input that are being recorded", () =>
    withConversation([answer("one"), answer("two")], ({ conversation, hold, script }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const listener = yield* conversation.attach()
          yield* conversation.submit(says("first"))
          yield* takeUntil(listener, isEnd)
          const gate = yield* Deferred.make<void, StoreError>()
          hold(gate)
          const { cwd } = settings
          yield* Effect.forkChild(
            conversation.submit({
              type: "user_turn",
              items: [{ type: "text", text: "second" }],
              cwd,
              model: "other-model",
              approval_policy: settings.approvalPolicy,
              sandbox_policy: settings.sandboxPolicy,
              summary: settings.summary,
            }),
          )
          yield* settle
          const request = lastOf(script.requests)
          assert.strictEqual(request?.model, "other-model")
          assert.deepStrictEqual(request?.input.slice(1), [
            userItem("first"),
            assistantItem("one"),
            userItem("second"),
          ])
          yield* Deferred.succeed(gate, undefined)
          yield* takeUntil(listener, isEnd)
        }),
      ),
    ),
  )

  it.effect("L5 ends with one terminal event when it is cancelled meanwhile", () =>
    withConversation([Stream.never], ({ conversation, hold, script }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const listener = yield* conversation.attach()
          const gate = yield* Deferred.make<void, StoreError>()
          hold(gate)
          yield* Effect.forkChild(conversation.submit(says("hi")))
          yield* settle
          yield* Effect.forkChild(conversation.cancel("0"))
          yield* settle
          assert.strictEqual(script.requests.length, 1)
          yield* Deferred.succeed(gate, undefined)
          const seen = durableOf(yield* takeUntil(listener, isEnd))
          assert.deepStrictEqual(endings(seen, "0"), { terminal: ["turn_aborted"], after: [] })
        }),
      ),
    ),
  )

  it.effect("sends input that joins it meanwhile with a second request", () =>
    Effect.flatMap(Deferred.make<void>(), (go) =>
      withConversation([after(go, "one"), answer("two")], ({ conversation, hold, script }) =>
        Effect.scoped(
          Effect.gen(function* () {
            const listener = yield* conversation.attach()
            const gate = yield* Deferred.make<void, StoreError>()
            hold(gate)
            yield* Effect.forkChild(conversation.submit(says("hi")))
            yield* settle
            yield* Effect.forkChild(conversation.submit(says("and more")))
            yield* settle
            yield* Deferred.succeed(gate, undefined)
            yield* settle
            yield* Deferred.succeed(go, undefined)
            yield* takeUntil(listener, isEnd)
            assert.deepStrictEqual(
              script.requests.map(({ input }) => input.slice(1)),
              [[userItem("hi")], [userItem("hi"), userItem("and more"), assistantItem("one")]],
            )
          }),
        ),
      ),
    ),
  )

  it.effect("L5 L10 waits for the record of the end of the turn before it", () =>
    Effect.flatMap(Deferred.make<void>(), (go) =>
      withConversation([after(go, "one"), answer("two")], ({ conversation, hold, script }) =>
        Effect.scoped(
          Effect.gen(function* () {
            const listener = yield* conversation.attach()
            yield* conversation.submit(says("hi"))
            yield* conversation.submit(says("next"), { whileRunning: "wait" })
            yield* settle
            const gate = yield* Deferred.make<void, StoreError>()
            hold(gate)
            yield* Deferred.succeed(go, undefined)
            yield* settle
            assert.strictEqual(script.requests.length, 1)
            yield* Deferred.succeed(gate, undefined)
            yield* takeUntil(listener, isEnd)
            yield* settle
            assert.strictEqual(script.requests.length, 2)
          }),
        ),
      ),
    ),
  )
})
