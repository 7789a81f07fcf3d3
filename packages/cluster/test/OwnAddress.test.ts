/** What a node concludes from the response at its own address. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { NodeAddressTaken } from "../src/node/NodeRows.ts"
import { check } from "../src/node/OwnAddress.ts"

const address = { host: "host", port: 8748 }

/** The outcome of the check of the node with number 1, and what it logged. */
const checked = Effect.fnUntraced(function* (asking: Effect.Effect<number, string>) {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  const checking = yield* check(1, address, asking).pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.exit,
    Effect.forkChild({ startImmediately: true }),
  )
  yield* TestClock.adjust("5 seconds")
  return { exit: yield* Fiber.join(checking), lines }
})

describe("the address of a node", () => {
  it.effect("is its own where it responds there itself", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* checked(Effect.succeed(1)), { exit: Exit.void, lines: [] })
    }),
  )

  it.effect("is refused where another node responds", () =>
    Effect.gen(function* () {
      const { exit, lines } = yield* checked(Effect.succeed(2))
      assert.deepStrictEqual(exit, Exit.fail(new NodeAddressTaken({ address: "host:8748" })))
      assert.deepStrictEqual(lines, [])
    }),
  )

  it.effect("is warned of where no node responds", () =>
    Effect.gen(function* () {
      for (const silent of [Effect.fail("refused"), Effect.never]) {
        const { exit, lines } = yield* checked(silent)
        assert.deepStrictEqual(exit, Exit.void)
        assert.strictEqual(lines.length, 1)
        assert.include(lines[0], "does not reach itself at host:8748")
      }
    }),
  )
})
