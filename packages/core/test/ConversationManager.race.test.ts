import type { Event } from "@colloquy/protocol/EventMsg"
import { simulate } from "@colloquy/simulation/Simulate"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import { ConversationManager } from "../src/ConversationManager.ts"
import { StoreError } from "../src/StoreErrors.ts"
import { observed } from "./stores.ts"
import {
  answer,
  durableOf,
  endings,
  loadedIds,
  managerLayer,
  says,
  scripted,
  settings,
  takeToEnd,
  takeUntil,
} from "./support.ts"

type Manager = ConversationManager["Service"]
type Made = Effect.Success<ReturnType<Manager["create"]>>

const pause = Effect.flatMap(Random.nextIntBetween(0, 40), (n) =>
  n < 30
    ? Effect.forEach(Array.from({ length: n }), () => Effect.yieldNow, { discard: true })
    : Effect.sleep(n - 29),
)

/** A slow store of which about one append in five fails, until `health.well` is set. */
const unreliable = (health: { well: boolean }) => {
  const { faults, layer } = observed()
  const flaky = new StoreError({ operation: "append", reason: "Other", message: "flaky" })
  faults.append = (_, really) =>
    Effect.andThen(
      pause,
      Effect.flatMap(Random.nextIntBetween(0, 4), (n) =>
        n === 0 && !health.well ? Effect.fail(flaky) : really,
      ),
    )
  return layer
}

const replay = Effect.fnUntraced(function* (conversation: Made) {
  const listener = yield* conversation.attach({ from: 0 })
  return durableOf(yield* takeUntil(listener, ({ _tag }) => _tag === "Synced"))
}, Effect.scoped)

const allowed = new Set([
  "ConversationClosed",
  // The conversation may have no user message yet.
  "BadForkRule",
  "ConversationUnavailable",
  "ManagerClosed",
  "NoSuchConversation",
  "StoreError",
  "TooManyConversations",
])

/** Many fibers use more conversations than may be loaded at once; at the end the manager is shut down. */
const race = Effect.gen(function* () {
  const health = { well: false }
  const scope = yield* Scope.make()
  const manager = Context.get(
    yield* Layer.buildWithScope(
      managerLayer(scripted(answer("yes")), {
        maxLoaded: 2,
        idleTimeToLive: 3,
        store: unreliable(health),
      }),
      scope,
    ),
    ConversationManager,
  )
  const made = [yield* manager.create(settings), yield* manager.create(settings)]
  const logs: Array<{ readonly id: string; readonly events: ReadonlyArray<Event> }> = []
  const accepted: Array<{ readonly conversation: string; readonly id: string }> = []
  const removed = new Set<string>()
  const strange: Array<string> = []

  const attempt = <A>(effect: Effect.Effect<A, { readonly _tag: string }>) =>
    Effect.catch(Effect.asVoid(effect), ({ _tag }) =>
      Effect.sync(() => {
        if (!allowed.has(_tag)) strange.push(_tag)
      }),
    )

  const act = Effect.fnUntraced(function* (client: number, round: number) {
    const which = yield* Random.nextIntBetween(0, made.length - 1)
    const conversation = made[which]
    if (conversation === undefined) return
    const { id } = conversation
    switch (yield* Random.nextIntBetween(0, 9)) {
      case 0:
        return yield* Effect.map(manager.create(settings), (one) => made.push(one))
      case 1:
        return yield* Effect.map(
          manager.fork(id, { _tag: "DropLastUserMessages", n: round % 2 }),
          (fork) => made.push(fork),
        )
      case 2:
        yield* manager.remove(id)
        return removed.add(id)
      case 3:
      case 4: {
        const found = yield* manager.get(id)
        return logs.push({ id, events: yield* replay(found) })
      }
      case 5:
        return yield* conversation.state
      case 6: {
        const fiber = yield* Effect.forkChild(Effect.exit(conversation.state))
        yield* pause
        return yield* Fiber.interrupt(fiber)
      }
      default: {
        const receipt = yield* conversation.submit(says("hi"), { id: `${client}.${round}` })
        return accepted.push({ conversation: id, id: receipt.id })
      }
    }
  })

  yield* Effect.forEach(
    Array.from({ length: 5 }, (_, n) => n),
    (client) =>
      Effect.forEach(
        Array.from({ length: 8 }, (_, n) => n),
        (round) => Effect.andThen(pause, attempt(act(client, round))),
        { discard: true },
      ),
    { concurrency: "unbounded", discard: true },
  )
  health.well = true
  yield* Effect.sleep(20)
  const final = new Map<string, ReadonlyArray<Event>>()
  for (const conversation of made) {
    if (!removed.has(conversation.id)) final.set(conversation.id, yield* replay(conversation))
  }
  const last = made.find(({ id }) => !removed.has(id))
  const listener = yield* last === undefined ? Effect.undefined : last.attach({ from: 0 })
  yield* Effect.all(
    [
      attempt(manager.create(settings)),
      ...made.map((conversation) => attempt(conversation.submit(says("late")))),
      Effect.andThen(pause, Scope.close(scope, Exit.void)),
    ],
    { concurrency: "unbounded", discard: true },
  )
  const received = listener === undefined ? undefined : durableOf(yield* takeToEnd(listener))
  return { logs, accepted, final, strange, received, left: yield* loadedIds(manager) }
}).pipe(Effect.scoped, Effect.provide(Logger.layer([])))

const isPrefix = (a: ReadonlyArray<Event>, b: ReadonlyArray<Event>) =>
  a.length <= b.length && a.every((event, i) => JSON.stringify(event) === JSON.stringify(b[i]))

describe("ConversationManager under any interleaving of eviction and a store that fails", () => {
  it("L4 L5 L8 loses no event, repeats none, ends every turn once and leaves nothing running", () => {
    let compared = 0
    for (let seed = 0; seed < 300; seed++) {
      const { exit } = simulate(seed, race)
      if (typeof exit === "string") assert.fail(`seed ${seed}: ${exit}`)
      if (Exit.isFailure(exit)) assert.fail(`seed ${seed}: ${String(exit.cause)}`)
      const { logs, accepted, final, strange, received, left } = exit.value
      assert.deepStrictEqual([strange, left], [[], []], `seed ${seed}`)
      for (const events of final.values()) {
        assert.deepStrictEqual(
          events.map(({ seq }) => seq),
          events.map((_, i) => i),
          `seed ${seed}`,
        )
      }
      for (const { id, events } of logs) {
        const whole = final.get(id)
        if (whole === undefined) continue
        assert.isTrue(isPrefix(events, whole), `seed ${seed} ${id}`)
        compared++
      }
      for (const { conversation, id } of accepted) {
        const whole = final.get(conversation)
        if (whole === undefined) continue
        const { terminal, after } = endings(whole, id)
        // A turn whose end could not be recorded is aborted after the next load.
        assert.deepStrictEqual([terminal.length, after], [1, []], `seed ${seed} ${id}`)
      }
      if (received === undefined) continue
      assert.strictEqual(received.at(-1)?.msg.type, "shutdown_complete", `seed ${seed}`)
    }
    assert.isAbove(compared, 300)
  })
})
