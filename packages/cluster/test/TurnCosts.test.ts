/** How many calls between nodes and how many appends a turn takes: what the sizing in `scale-out.md` is calculated from. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationStore, LogWriter } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { elapse, says, settings, world } from "./support/TwoNodes.ts"

/** A store that notes the number of records of each append, and what else its logs are used for. */
class CountedStore extends MemoryStore {
  readonly appends: Array<number> = []
  readonly uses: Array<"open" | "read" | "release"> = []

  override readonly create: ConversationStore["Service"]["create"] = (...args) =>
    Effect.map(this.leased(super.create(...args)), (writer) => this.counted(writer))

  override open(...args: Parameters<MemoryStore["open"]>) {
    this.uses.push("open")
    return Effect.map(this.leased(super.open(...args)), (opened) => ({
      ...opened,
      writer: this.counted(opened.writer),
    }))
  }

  override read(...args: Parameters<MemoryStore["read"]>) {
    this.uses.push("read")
    return super.read(...args)
  }

  private leased<A, E, R>(taking: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> {
    return Effect.andThen(
      Effect.addFinalizer(() => Effect.sync(() => void this.uses.push("release"))),
      taking,
    )
  }

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

/** What a turn asks the store for, of a conversation that was not used for some seconds, and is not used after it. */
const turnAfter = (seconds: number) =>
  Effect.gen(function* () {
    const store = new CountedStore()
    const { close, manager } = yield* world({ store }).join("a")
    const conversation = yield* manager.create(settings)
    const talk = Effect.gen(function* () {
      const running = yield* Effect.forkChild(conversation.runTurn(says("hi")), {
        startImmediately: true,
      })
      yield* elapse(0)
      yield* Fiber.join(running)
    })
    yield* talk
    yield* elapse(seconds)
    store.appends.length = 0
    store.uses.length = 0
    yield* talk
    yield* elapse(6)
    const asked = { appends: [...store.appends], uses: [...store.uses] }
    yield* close
    return asked
  }).pipe(Effect.scoped)

describe("a turn", () => {
  it.effect(
    "loads a conversation that was not used for some seconds, and releases it after as many",
    () =>
      Effect.gen(function* () {
        const appends = [4, 4]
        assert.deepStrictEqual(yield* turnAfter(1), { appends, uses: ["release"] })
        assert.deepStrictEqual(yield* turnAfter(6), { appends, uses: ["open", "read", "release"] })
      }),
  )

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
