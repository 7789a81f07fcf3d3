import * as AppClient from "@colloquy/client/AppClient"
import * as Following from "@colloquy/client/ReconnectingEvents"
import { ArchiveConversation, NewConversation } from "@colloquy/protocol/app/Conversations"
import { SendUserMessage } from "@colloquy/protocol/app/Messages"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import * as AppServer from "@colloquy/server/AppServer"
import { type MemoryConnection, memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { asking, exec, oneCall } from "../../server/test/support/Asking.ts"
import { withCore } from "../../server/test/support/Harness.ts"

const noPorts = Layer.mergeAll(Auth.layerNone, HostPort.layerNone, UserConfig.layerNone)

const clientInfo = { name: "test", version: "1" }

/** One more connection to the conversations of this process. */
const opened = Effect.gen(function* () {
  const [there, here] = yield* memoryPair()
  yield* Effect.forkScoped(Effect.provide(AppServer.serve(here), noPorts))
  return there
})

const connected = (options: Partial<AppClient.ConnectOptions> = {}) =>
  Effect.flatMap(opened, (there) => AppClient.connect(there, { clientInfo, ...options }))

const created = ({ client }: AppClient.AppClient) =>
  Effect.map(client.request(NewConversation, {}), ({ conversationId }) => conversationId)

const say = ({ client }: AppClient.AppClient, conversationId: string, text: string) =>
  client.request(SendUserMessage, { conversationId, items: [{ type: "text", data: { text } }] })

const isEnd = (message: AppClient.ConversationMessage) =>
  message._tag === "Event" && message.msg.type === "task_complete"

/** Everything to the end of that many turns. */
const received = <E>(stream: Stream.Stream<AppClient.ConversationMessage, E>, turns = 1) => {
  let left = turns
  return Stream.runCollect(Stream.takeUntil(stream, (message) => isEnd(message) && --left === 0))
}

const start = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.forkChild(effect, { startImmediately: true })

const isDelta = (message: AppClient.ConversationMessage) =>
  message._tag === "Event" && message.msg.type.endsWith("_delta")

/** Numbers of the events that are kept. */
const kept = (all: ReadonlyArray<AppClient.ConversationMessage>) =>
  all.flatMap((message) => (message._tag === "Event" && !isDelta(message) ? [message.seq] : []))

const upTo = (last: number | undefined) => Array.from({ length: (last ?? -1) + 1 }, (_, n) => n)

describe("AppClient and AppServer", () => {
  it.effect(
    "L4 two clients of one conversation, in memory over one server, get the same events",
    () =>
      withCore([Script.reply(Script.text("hello"))], () =>
        Effect.gen(function* () {
          const [one, two] = [yield* connected(), yield* connected()]
          const id = yield* created(one)
          const first = yield* start(received(one.events(id, { raw: true })))
          const second = yield* start(received(two.events(id, { raw: true })))
          yield* say(one, id, "hi")
          const all = yield* Fiber.join(first)
          assert.deepStrictEqual(yield* Fiber.join(second), all)
          assert.deepStrictEqual(kept(all), upTo(kept(all).at(-1)))
        }),
      ),
  )

  it.effect("L7 one of two clients answers a question, and it is withdrawn from the other", () => {
    const asked = asking([exec])
    return withCore(
      oneCall,
      () =>
        Effect.gen(function* () {
          const withdrawn = yield* Deferred.make<void>()
          const both = yield* Deferred.make<void>()
          const decision = yield* Deferred.make<ReviewDecision>()
          const approvals: Array<AppClient.Approval> = []
          const one = yield* connected({
            onApproval: (approval) => {
              approvals.push(approval)
              return Deferred.await(decision)
            },
          })
          const two = yield* connected({
            onApproval: () =>
              Effect.andThen(Deferred.succeed(both, undefined), Effect.never).pipe(
                Effect.onInterrupt(() => Deferred.succeed(withdrawn, undefined)),
              ),
          })
          const id = yield* created(one)
          const first = yield* start(received(one.events(id, { raw: true })))
          const second = yield* start(received(two.events(id, { raw: true })))
          yield* say(one, id, "ask")
          yield* Deferred.await(both)
          yield* Deferred.succeed(decision, "approved")
          yield* Deferred.await(withdrawn)
          const all = yield* Fiber.join(second)
          assert.deepStrictEqual(yield* Fiber.join(first), all)
          assert.deepStrictEqual(
            all.flatMap((message) =>
              message._tag === "Event" && message.msg.type === "approval_resolved"
                ? [message.msg["decision"]]
                : [],
            ),
            ["approved"],
          )
          assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
          assert.deepStrictEqual(approvals, [
            {
              _tag: "Command",
              conversationId: id,
              callId: "c",
              command: ["touch", "made.txt"],
              cwd: "/workspace",
              parsed: [{ type: "unknown", cmd: "touch made.txt" }],
              reason: [
                "If approved, it runs in the sandbox: it can change no file and not use the network.",
                "Approved for the session, exactly this command in this directory runs so again without a question: in this conversation and its forks, also after a restart.",
              ].join("\n"),
            },
          ])
        }),
      asked.tools,
    )
  })

  it.effect("L4 a client that leaves and returns with its cursor misses nothing", () =>
    withCore(
      [
        Script.reply(Script.text("one")),
        Script.reply(Script.text("two")),
        Script.reply(Script.text("three")),
      ],
      () =>
        Effect.gen(function* () {
          const other = yield* connected()
          const id = yield* created(other)
          yield* say(other, id, "first")
          const early = yield* Effect.scoped(
            Effect.flatMap(connected(), (app) => received(app.events(id, { raw: true }))),
          )
          yield* say(other, id, "second")
          yield* received(other.events(id, { raw: true }), 2)
          yield* say(other, id, "third")
          const back = yield* connected()
          const after = kept(early).at(-1)
          assert.isDefined(after)
          const late = yield* received(back.events(id, { after, raw: true }), 2)
          const numbers = [...kept(early), ...kept(late)]
          assert.deepStrictEqual(numbers, upTo(numbers.at(-1)))
        }),
    ),
  )

  it.effect(
    "L4 the events continue over the next connection, without loss and without repeat",
    () =>
      withCore(
        [
          Script.reply(Script.text("one")),
          Script.reply(Script.delay("3 seconds"), Script.text("two")),
        ],
        () =>
          Effect.gen(function* () {
            const connections: Array<MemoryConnection> = []
            const current = yield* Following.reconnecting(
              Effect.flatMap(opened, (there) => {
                connections.push(there)
                return AppClient.connect(there, { clientInfo })
              }),
              { pause: "2 seconds" },
            )
            const other = yield* connected()
            const id = yield* created(other)
            const seen: Array<AppClient.ConversationMessage> = []
            const reader = yield* start(
              received(
                Stream.tap(Following.events(current, id, { raw: true }), (message) =>
                  Effect.sync(() => {
                    seen.push(message)
                  }),
                ),
                2,
              ),
            )
            yield* say(other, id, "first")
            yield* received(other.events(id, { raw: true }))
            yield* Effect.forEach(upTo(200), () => Effect.yieldNow, { discard: true })
            assert.isTrue(seen.some(isEnd))
            yield* say(other, id, "second")
            yield* connections[0]?.drop ?? Effect.void
            yield* TestClock.adjust("2 seconds")
            yield* TestClock.adjust("2 seconds")
            const all = yield* Fiber.join(reader)
            assert.strictEqual(connections.length, 2)
            const numbers = kept(all)
            assert.deepStrictEqual(numbers, upTo(numbers.at(-1)))
            assert.strictEqual(all.filter(({ _tag }) => _tag === "Resumed").length, 1)
          }),
      ),
  )

  it.effect("events end when the conversation is archived, by any client, and miss nothing", () =>
    withCore([Script.reply(Script.text("one"))], () =>
      Effect.gen(function* () {
        const [one, two] = [yield* connected(), yield* connected()]
        const current = yield* Following.reconnecting(
          Effect.flatMap(opened, (there) => AppClient.connect(there, { clientInfo })),
        )
        const id = yield* created(one)
        const following = Following.events(current, id, { raw: true })
        const reading = yield* start(
          Effect.all(
            [
              Stream.runCollect(one.events(id, { raw: true })),
              Stream.runCollect(two.events(id, { raw: true })),
              Stream.runCollect(following),
            ],
            { concurrency: "unbounded" },
          ),
        )
        yield* say(one, id, "hi")
        yield* received(one.events(id))
        yield* two.client.request(ArchiveConversation, { conversationId: id })
        const [all, ...others] = yield* Fiber.join(reading)
        assert.deepStrictEqual(others.map(kept), [kept(all), kept(all)])
        assert.deepStrictEqual(kept(all), upTo(kept(all).at(-1)))
        const last = all.at(-1)
        assert.strictEqual(last?._tag === "Event" ? last.msg.type : undefined, "shutdown_complete")
      }),
    ),
  )

  it.effect("L6 a client that reads slowly gets every durable event, and delays no other", () =>
    withCore([Script.reply(...Array.from({ length: 3000 }, (_, n) => Script.text(`${n} `)))], () =>
      Effect.gen(function* () {
        const app = yield* connected()
        const id = yield* created(app)
        const gate = yield* Deferred.make<void>()
        const slow = yield* start(
          received(Stream.tap(app.events(id, { raw: true }), () => Deferred.await(gate))),
        )
        yield* say(app, id, "speak")
        // Over the same connection as the one that reads nothing.
        yield* received(app.events(id, { raw: true }))
        yield* Deferred.succeed(gate, undefined)
        const all = yield* Fiber.join(slow)
        assert.deepStrictEqual(kept(all), upTo(kept(all).at(-1)))
        assert.isTrue(all.some(({ _tag }) => _tag === "Resumed"))
      }),
    ),
  )
})
