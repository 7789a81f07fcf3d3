import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Conversation from "../src/Conversation.ts"
import { SubmissionRefused } from "../src/ConversationErrors.ts"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import { ModelClient } from "../src/ModelClient.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import { ToolRuntime } from "../src/ToolRuntime.ts"
import {
  answer,
  conversationId,
  eventsOf,
  isEnd,
  isType,
  open,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  tools,
  typesOf,
} from "./support.ts"

type Tools = Readonly<Record<string, unknown>>

/** Opens a conversation whose tool listing waits until the test completes `gate`; counts the interrupted listings. */
const listing = Effect.fnUntraced(function* (
  responses: ReadonlyArray<Response> = [answer("yes")],
  list?: (settings: ConversationSettings) => Effect.Effect<Tools>,
) {
  const gate = yield* Deferred.make<Tools>()
  let ended = 0
  const waiting = Effect.onInterrupt(Deferred.await(gate), () => Effect.sync(() => ended++))
  const scene = yield* open(responses, {
    tools: { ...tools(), listMcpTools: list ?? (() => waiting) },
  })
  return { ...scene, gate, ended: () => ended }
})

const op = { type: "list_mcp_tools" } as const
const response = "mcp_list_tools_response"
const found = { s__t: { name: "t", inputSchema: { type: "object" } } }
const answersIn = (deliveries: ReadonlyArray<Delivery>) =>
  eventsOf(deliveries).filter(({ msg }) => msg.type === response)

describe("list_mcp_tools", () => {
  it.effect("is answered under its own id, durably, with the current settings", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { conversation, listener } = yield* listing([], ({ cwd }) =>
        Effect.sync(() => {
          asked.push(cwd)
          return found
        }),
      )
      yield* conversation.submit({ type: "override_turn_context", cwd: "/else" })
      assert.deepStrictEqual(yield* conversation.submit(op, { id: "l" }), {
        id: "l",
        disposition: "none",
      })
      // Submitting the same id again starts no second listing.
      yield* conversation.submit(op, { id: "l" })
      const seen = answersIn(yield* takeUntil(listener, isType(response)))
      assert.deepStrictEqual(
        seen.map(({ id, msg }) => ({ id, msg })),
        [{ id: "l", msg: { type: response, tools: found } }],
      )
      assert.deepStrictEqual(asked, ["/else"])
      assert.deepStrictEqual((yield* conversation.durableEvents).at(-1), seen[0])
    }),
  )

  it.effect("delays no turn, and the end of a turn does not affect it", () =>
    Effect.gen(function* () {
      const { conversation, ended, gate, listener } = yield* listing([answer("yes"), Stream.never])
      yield* conversation.submit(op, { id: "l" })
      yield* conversation.submit(says("hi"), { id: "t" })
      assert.notInclude(typesOf(yield* takeUntil(listener, isEnd)), response)
      yield* conversation.submit(says("hi"), { id: "u" })
      yield* takeUntil(listener, isType("task_started"))
      yield* conversation.submit({ type: "interrupt" })
      yield* takeUntil(listener, isEnd)
      assert.strictEqual(ended(), 0)
      yield* Deferred.succeed(gate, found)
      const [answered] = answersIn(yield* takeUntil(listener, isType(response)))
      assert.strictEqual(answered?.id, "l")
    }),
  )

  it.effect("interleaves with a turn that runs", () =>
    Effect.gen(function* () {
      const { conversation, gate, listener } = yield* listing([Stream.never])
      yield* conversation.submit(says("hi"), { id: "t" })
      yield* conversation.submit(op, { id: "l" })
      yield* Deferred.succeed(gate, found)
      const seen = eventsOf(yield* takeUntil(listener, isType(response)))
      assert.deepStrictEqual(
        seen.slice(-2).map(({ id, msg }) => [id, msg.type]),
        [
          ["t", "user_message"],
          ["l", response],
        ],
      )
      assert.strictEqual((yield* conversation.state).turn?.id, "t")
    }),
  )

  it.effect("a fifth at the same time is refused, and accepted when an earlier one has ended", () =>
    Effect.gen(function* () {
      const { conversation, gate, listener } = yield* listing()
      for (const id of ["a", "b", "c", "d"]) yield* conversation.submit(op, { id })
      assert.deepStrictEqual(
        yield* Effect.exit(conversation.submit(op, { id: "e" })),
        Exit.fail(
          new SubmissionRefused({
            reason: "TooManyListings",
            message: "4 listings of tools are running already, which is the limit",
          }),
        ),
      )
      yield* Deferred.succeed(gate, found)
      yield* settle
      assert.notProperty(yield* conversation.state, "listings")
      yield* conversation.submit(op, { id: "e" })
      const answered = answersIn(
        yield* takeUntil(listener, (d) => d._tag === "Event" && d.event.id === "e"),
      )
      assert.deepStrictEqual(
        answered.map(({ id }) => id),
        ["a", "b", "c", "d", "e"],
      )
    }),
  )

  it.effect("L8 ends with the conversation, unanswered", () =>
    Effect.gen(function* () {
      const { conversation, ended, listener } = yield* listing()
      const rest = yield* Effect.forkChild(takeToEnd(listener))
      yield* conversation.submit(op)
      yield* conversation.submit({ type: "shutdown" })
      assert.deepStrictEqual(typesOf(yield* Fiber.join(rest)).slice(-1), ["shutdown_complete"])
      yield* settle
      assert.strictEqual(ended(), 1)
    }),
  )

  it.effect("prevents the eviction of the conversation", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<Tools>()
      const conversation = yield* Conversation.make(conversationId, settings).pipe(
        Effect.provideService(ModelClient, scripted(answer("yes")).service),
        Effect.provideService(ToolRuntime, {
          ...tools(),
          listMcpTools: () => Deferred.await(gate),
        }),
      )
      yield* conversation.submit(op)
      assert.isFalse(yield* conversation.suspend)
      yield* Deferred.succeed(gate, found)
      yield* settle
      assert.isTrue(yield* conversation.suspend)
      assert.strictEqual((yield* conversation.durableEvents).at(-1)?.msg.type, response)
    }),
  )

  it.effect("is answered with no tools when they fail with a defect, or are interrupted", () =>
    Effect.gen(function* () {
      for (const list of [Effect.die("broken"), Effect.interrupt]) {
        const { conversation, listener } = yield* listing([], () => list)
        yield* conversation.submit(op)
        const [answered] = answersIn(yield* takeUntil(listener, isType(response)))
        assert.deepStrictEqual(answered?.msg, { type: response, tools: {} })
      }
    }),
  )
})
