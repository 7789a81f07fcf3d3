import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Conversation from "../src/Conversation.ts"
import { ModelClient } from "../src/ModelClient.ts"
import { ToolRuntime } from "../src/ToolRuntime.ts"
import {
  answer,
  callItem,
  completed,
  conversationId,
  done,
  durableOf,
  endings,
  eventsOf,
  says,
  scripted,
  settings,
  takeToEnd,
  tools,
} from "./support.ts"
import { simulate } from "@colloquy/simulation/Simulate"

const endless = Stream.fromIterable(answer("begun").slice(0, 3)).pipe(Stream.concat(Stream.never))

/** Submits, cancels and attaches from many fibers, and closes the conversation at a random moment. */
const race = Effect.gen(function* () {
  const script = scripted(
    answer("one"),
    [done(callItem("look", "c")), completed],
    answer("two"),
    endless,
    answer("three"),
    [done(callItem("hang", "d")), completed],
    answer("four"),
  )
  const scope = yield* Scope.make()
  let closed = 0
  const conversation = yield* Conversation.make(conversationId, settings, {
    onClose: () => Effect.sync(() => closed++),
  }).pipe(
    Scope.provide(scope),
    Effect.provideService(ModelClient, script.service),
    Effect.provideService(
      ToolRuntime,
      tools({ look: () => Effect.succeed("seen"), hang: () => Effect.never }),
    ),
  )
  const pause = Effect.flatMap(Random.nextIntBetween(0, 60), (n) =>
    Effect.forEach(Array.from({ length: n }), () => Effect.yieldNow, { discard: true }),
  )
  const listen = Effect.scoped(
    Effect.flatMap(conversation.attach({ from: 0 }), (listener) => takeToEnd(listener)),
  )
  const early = yield* Effect.forkChild(listen, { startImmediately: true })
  const late = yield* Effect.forkChild(Effect.andThen(pause, listen))
  const client = Effect.fnUntraced(function* (n: number) {
    yield* pause
    const mode = (["queue", "wait", "reject", "steer", "interrupt"] as const)[n % 5] ?? "queue"
    const receipt = yield* Effect.exit(
      conversation.submit(
        says(`text ${n}`),
        n % 2 === 0 ? { id: `c${n}`, whileRunning: mode } : { whileRunning: mode },
      ),
    )
    if (n % 4 === 0) {
      yield* pause
      yield* conversation.cancel(`c${n}`)
    }
    if (n % 7 === 0) yield* Effect.exit(conversation.submit({ type: "interrupt" }))
    if (n === 9) {
      yield* pause
      yield* Effect.exit(conversation.submit({ type: "shutdown" }))
    }
    return Exit.isSuccess(receipt) ? [receipt.value] : []
  })
  const clients = yield* Effect.forkChild(
    Effect.forEach(
      Array.from({ length: 12 }, (_, n) => n),
      client,
      { concurrency: "unbounded" },
    ),
  )
  yield* pause
  yield* pause
  yield* Scope.close(scope, Exit.void)
  return {
    receipts: (yield* Fiber.join(clients)).flat(),
    early: yield* Fiber.join(early),
    late: yield* Fiber.join(late),
    closed,
  }
})

describe("Conversation under any interleaving", () => {
  it("L4 L5 resolves every call, ends every turn once and delivers every event to every listener", () => {
    for (let seed = 0; seed < 600; seed++) {
      const { exit } = simulate(seed, race)
      if (exit === "stuck" || exit === "livelock")
        assert.fail(`seed ${seed}: something waits for ever`)
      assert.isTrue(Exit.isSuccess(exit), `seed ${seed}`)
      if (!Exit.isSuccess(exit)) return
      const { receipts, early, late, closed } = exit.value
      assert.strictEqual(closed, 1)
      const events = durableOf(early)
      assert.deepStrictEqual(
        events.map(({ seq }) => seq),
        events.map((_, i) => i),
        `seed ${seed}`,
      )
      assert.deepStrictEqual(durableOf(late), events, `seed ${seed}`)
      assert.strictEqual(events.at(-1)?.msg.type, "shutdown_complete", `seed ${seed}`)
      for (const { id, disposition } of receipts) {
        if (disposition === "none") continue
        const { terminal, after } = endings(eventsOf(early), id)
        assert.deepStrictEqual([terminal.length, after], [1, []], `seed ${seed} id ${id}`)
      }
    }
  })

  it("L12 repeats itself under the same seed", () => {
    for (let seed = 0; seed < 20; seed++) {
      assert.deepStrictEqual(simulate(seed, race), simulate(seed, race))
    }
  })
})
