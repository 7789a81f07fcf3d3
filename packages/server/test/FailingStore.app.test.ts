import * as FullStore from "@colloquy/testing/FullStore"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  created,
  errorOf,
  eventsOf,
  hello,
  listening,
  resultOf,
  say,
  typesOf,
  withApp,
} from "./support/AppHarness.ts"
import { asking, exec, oneCall } from "./support/Asking.ts"
import type { Harness } from "./support/Harness.ts"

/** Long enough for every bound within which something ends. */
const settle = (app: Harness) =>
  Effect.andThen(Effect.andThen(app.quiet, TestClock.adjust("15 seconds")), app.quiet)

const ends = ({ messages }: Harness) =>
  messages.flatMap(({ method, params }) => (method === "conversationClosed" ? [params] : []))

const terminalsOf = (app: Harness, turnId: string, subscription?: string) =>
  eventsOf(app, subscription).flatMap(({ method, params }) =>
    params?.["id"] === turnId && /task_complete|turn_aborted/.test(method ?? "") ? [method] : [],
  )

/** The numbers of all durable events that the client was sent. */
const numbersOf = ({ messages }: Harness) =>
  messages.flatMap(({ method = "", params }) =>
    /^codex\/event\/|^conversationSkipped$/.test(method) && !method.endsWith("_delta")
      ? [params?.["seq"]]
      : [],
  )

/** A turn of this script appends fewer batches. */
const maxAppends = 12

const requests = ({ messages }: Harness) =>
  messages.filter(({ id, method }) => method !== undefined && id !== undefined)

const withdrawn = ({ messages }: Harness) =>
  messages.flatMap(({ method, params }) => (method === "$/cancelRequest" ? [params?.["id"]] : []))

describe("an app-server whose store is full", () => {
  for (const more of [{}, { after: -1 }]) {
    const how = "after" in more ? "with `after`" : "without `after`"
    it.effect(`L5 ends every listener with the reason, at whatever record, ${how}`, () =>
      Effect.gen(function* () {
        let failed = 0
        for (let room = 0; room < maxAppends; room++) {
          const store = FullStore.make()
          const options = { script: oneCall, tools: asking([]).tools, store: store.layer }
          yield* withApp(options, (app) =>
            Effect.gen(function* () {
              const conversationId = yield* created(app)
              const subscriptionId = yield* listening(app, conversationId, more)
              store.room = room
              const answer = yield* say(app, conversationId, "one")
              yield* settle(app)
              const wasFull = store.room === 0
              if (!wasFull) return
              failed++
              const closed = ends(app)
              if (room === 0) assert.include(errorOf(answer).message, FullStore.fullMessage)
              if (terminalsOf(app, "0").length === 0) {
                assert.lengthOf(closed, 1, `after ${room} records`)
                assert.strictEqual(closed[0]?.["subscriptionId"], subscriptionId)
                assert.include(String(closed[0]?.["reason"]), FullStore.fullMessage)
              }
              // The next use is refused with the reason as long as there is no room, and works when there is.
              const refused = yield* say(app, conversationId, "two", {}, "say2")
              assert.include(errorOf(refused).message, FullStore.fullMessage)
              store.room = Infinity
              const said = resultOf(yield* say(app, conversationId, "three", {}, "say3"))
              yield* settle(app)
              if (room > 0) assert.lengthOf(terminalsOf(app, "0"), 1, `after ${room} records`)
              assert.lengthOf(terminalsOf(app, String(said["turnId"])), 1)
              if (!("after" in more)) return
              const numbers = numbersOf(app)
              assert.deepStrictEqual(
                numbers,
                numbers.map((_, seq) => seq),
              )
            }),
          )
        }
        assert.isAbove(failed, 4)
      }),
    )
  }

  it.effect("L5 sends the terminal event of the turn to the next listener, without a number", () =>
    Effect.gen(function* () {
      const store = FullStore.make()
      yield* withApp({ store: store.layer, tools: asking([exec]).tools, script: oneCall }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app, {}, "new")
          yield* listening(app, conversationId)
          store.room = 2
          yield* say(app, conversationId, "one")
          yield* settle(app)
          assert.lengthOf(ends(app), 1)
          store.room = Infinity
          const next = yield* listening(app, conversationId, {}, "again")
          yield* settle(app)
          assert.lengthOf(terminalsOf(app, "0", next), 1, JSON.stringify(typesOf(app, next)))
        }),
      )
    }),
  )

  it.effect("L7 withdraws a pending question, and puts it again at the next use", () =>
    Effect.gen(function* () {
      const store = FullStore.make()
      yield* withApp({ store: store.layer, tools: asking([exec]).tools, script: oneCall }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app, { approvalPolicy: "untrusted" })
          yield* listening(app, conversationId, { after: -1 })
          yield* say(app, conversationId, "one")
          yield* app.quiet
          const [question] = requests(app)
          assert.strictEqual(question?.method, "execCommandApproval")
          store.room = 0
          yield* say(app, conversationId, "two", {}, "say2")
          yield* settle(app)
          assert.deepStrictEqual(withdrawn(app), [question?.id])
          assert.lengthOf(ends(app), 1)
          store.room = Infinity
          yield* app.ask("look", "getConversation", { conversationId })
          yield* app.quiet
          const again = requests(app)[1]
          assert.strictEqual(again?.method, "execCommandApproval")
          yield* app.send({ id: again?.id, result: { decision: "approved" } })
          yield* settle(app)
          assert.lengthOf(terminalsOf(app, "0"), 1)
        }),
      )
    }),
  )

  it.effect("L10 an answer that cannot be recorded allows nothing", () =>
    Effect.gen(function* () {
      const store = FullStore.make()
      const asked = asking([exec])
      yield* withApp({ store: store.layer, tools: asked.tools, script: oneCall }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app, { approvalPolicy: "untrusted" })
          yield* listening(app, conversationId, { after: -1 })
          yield* say(app, conversationId, "one")
          yield* app.quiet
          const [question] = requests(app)
          store.room = 0
          yield* app.send({ id: question?.id, result: { decision: "approved" } })
          yield* settle(app)
          assert.deepStrictEqual(
            asked.verdicts.filter(({ decision }) => decision !== "denied"),
            [],
          )
          assert.include(String(ends(app)[0]?.["reason"]), FullStore.fullMessage)
        }),
      )
    }),
  )

  it.effect("L1 answers a request that waits for the end of the turn", () =>
    Effect.gen(function* () {
      const store = FullStore.make()
      yield* withApp(
        {
          store: store.layer,
          script: [Script.reply(Script.hang), Script.reply(Script.text("later"))],
        },
        (app) =>
          Effect.gen(function* () {
            const conversationId = yield* created(app)
            yield* listening(app, conversationId)
            yield* say(app, conversationId, "one")
            yield* app.quiet
            store.room = 0
            const answer = yield* app.ask("stop", "interruptConversation", { conversationId })
            assert.include(errorOf(answer).message, FullStore.fullMessage)
            yield* settle(app)
            assert.lengthOf(ends(app), 1)
          }),
      )
    }),
  )

  it.effect(
    "L3 a conversation that cannot be recorded is refused with the reason and leaves nothing",
    () =>
      Effect.gen(function* () {
        const store = FullStore.make()
        yield* withApp({ store: store.layer }, (app) =>
          Effect.gen(function* () {
            store.room = 0
            const refused = yield* app.ask("new", "newConversation", {})
            assert.include(errorOf(refused).message, FullStore.fullMessage)
            const listed = resultOf(yield* app.ask("list", "listConversations", {}))
            assert.deepStrictEqual(listed["items"], [])
            store.room = Infinity
            const conversationId = yield* created(app, {}, "new2")
            yield* say(app, conversationId, "one")
            yield* settle(app)
          }),
        )
      }),
  )

  it.effect("L13 one conversation that cannot be recorded affects no other one", () =>
    Effect.gen(function* () {
      const store = FullStore.make()
      yield* withApp({ store: store.layer }, (app) =>
        Effect.gen(function* () {
          const lost = yield* created(app, {}, "new1")
          const kept = yield* created(app, {}, "new2")
          const other = yield* app.another
          yield* hello(other)
          yield* listening(app, lost)
          yield* listening(other, kept)
          store.room = 1
          yield* say(app, lost, "one")
          yield* settle(app)
          assert.lengthOf(ends(app), 1)
          assert.lengthOf(ends(other), 0)
          store.room = Infinity
          yield* say(other, kept, "two")
          yield* settle(other)
          assert.include(typesOf(other), "task_complete")
        }),
      )
    }),
  )
})
