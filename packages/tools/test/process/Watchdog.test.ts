import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Watchdog } from "../../src/process/Watchdog.ts"

/** A watchdog that acknowledges every group at once; each start waits for `mayStart`. */
const shell = (mayStart: Effect.Effect<void>) =>
  Layer.succeed(ChildProcessSpawner.ChildProcessSpawner)(
    ChildProcessSpawner.make((command) =>
      Effect.map(mayStart, () => {
        assert(command._tag === "StandardCommand" && Stream.isStream(command.options.stdin))
        const lines = Stream.map(command.options.stdin, (bytes) =>
          bytes.filter((byte) => byte !== "+".charCodeAt(0) && byte !== " ".charCodeAt(0)),
        )
        return ChildProcessSpawner.makeHandle({
          pid: ChildProcessSpawner.ProcessId(42),
          exitCode: Effect.never,
          isRunning: Effect.succeed(true),
          kill: () => Effect.void,
          stdin: Sink.drain,
          stdout: Stream.orDie(lines),
          stderr: Stream.empty,
          all: Stream.empty,
          getInputFd: () => Sink.drain,
          getOutputFd: () => Stream.empty,
          unref: Effect.succeed(Effect.void),
        })
      }),
    ),
  )

describe("Watchdog", () => {
  it.effect("runs for later commands where the one that started it was interrupted", () =>
    Effect.gen(function* () {
      const mayStart = yield* Deferred.make<void>()
      const layer = Layer.provide(Watchdog.layer, shell(Deferred.await(mayStart)))
      yield* Effect.gen(function* () {
        const watchdog = yield* Watchdog
        const first = yield* Effect.forkChild(watchdog.ready)
        yield* TestClock.adjust(0)
        const interrupting = yield* Effect.forkChild(Fiber.interrupt(first))
        yield* TestClock.adjust(0)
        yield* Deferred.succeed(mayStart, undefined)
        yield* Fiber.join(interrupting)
        const next = yield* Effect.forkChild(Effect.andThen(watchdog.ready, watchdog.add(7)))
        yield* TestClock.adjust(0)
        assert.isDefined(next.pollUnsafe(), "the group is acknowledged")
      }).pipe(Effect.provide(layer))
    }),
  )
})
