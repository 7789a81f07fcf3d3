/** How many calls between nodes and how many appends a turn takes: what the sizing in `scale-out.md` is calculated from. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationStore, LogWriter } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { elapse, says, settings, world } from "./support/TwoNodes.ts"

/** A store that notes the number of records of each append. */
class CountedStore extends MemoryStore {
  readonly appends: Array<number> = []

  override readonly create: ConversationStore["Service"]["create"] = (...args) =>
    Effect.map(super.create(...args), (writer) => this.counted(writer))

  private counted(writer: LogWriter): LogWriter {
    return {
      generation: writer.generation,
      append: (records, durability) =>
        Effect.suspend(() => {
          this.appends.push(records.length)
          return writer.append(records, durability)
        }),
    }
  }
}

type Conversation = Effect.Success<ReturnType<ConversationManager["Service"]["get"]>>

/** Submits, and takes the events of the turn to its end. */
const read = Effect.fnUntraced(function* (conversation: Conversation) {
  const listener = yield* conversation.attach()
  yield* conversation.submit(says("hi"))
  for (let over = false; !over;) {
    const deliveries = yield* listener.take
    over = deliveries.some((one) => one._tag === "Event" && one.event.msg.type === "task_complete")
  }
})

/** A turn of a conversation on the node `a`, through a node: its events are read, or only its end is waited for. */
const turn = (asked: "a" | "b", isRead: boolean) =>
  Effect.gen(function* () {
    const store = new CountedStore()
    const calls: Array<string> = []
    const { join } = world({ store, onCall: (operation) => calls.push(operation) })
    const nodes = { a: yield* join("a"), b: yield* join("b") }
    const { id } = yield* nodes.a.manager.create(settings)
    store.appends.length = 0
    const { manager } = nodes[asked]
    const taking = isRead
      ? Effect.flatMap(manager.get(id), read)
      : Effect.flatMap(manager.refer(id), (conversation) => conversation.runTurn(says("hi")))
    const running = yield* Effect.forkChild(taking, { startImmediately: true })
    yield* elapse(0)
    yield* Fiber.join(running)
    yield* Effect.all([nodes.a.close, nodes.b.close])
    return { calls, appends: store.appends }
  }).pipe(Effect.scoped)

describe("a turn", () => {
  it.effect("takes two appends and no call where its node is asked", () =>
    Effect.gen(function* () {
      for (const isRead of [true, false]) {
        assert.deepStrictEqual(yield* turn("a", isRead), { calls: [], appends: [4, 4] })
      }
    }),
  )

  it.effect(
    "takes a call more where another node is asked, and three where its events are read",
    () =>
      Effect.gen(function* () {
        const appends = [4, 4]
        assert.deepStrictEqual(yield* turn("b", false), { calls: ["RunTurn"], appends })
        const calls = ["Load", "Attach", "Submit"]
        assert.deepStrictEqual(yield* turn("b", true), { calls, appends })
      }),
  )
})
