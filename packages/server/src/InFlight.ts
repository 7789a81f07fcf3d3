/**
 * The requests of the other side that are being served: one fiber each, one answer each (L1).
 *
 * A request is answered by its handler, or cancelled and never answered, or stopped at the end of the connection
 * and answered with an error. Exactly one of the three, decided here.
 */
import type { Connection } from "@colloquy/protocol/Connection"
import { ErrorCode, failureText, JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import * as Pending from "@colloquy/protocol/PendingRequests"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

interface Entry {
  readonly id: RequestId
  fiber?: Fiber.Fiber<void>
  state: "running" | "answered" | "cancelled" | "stopped"
}

export interface InFlight {
  readonly size: number
  readonly has: (id: RequestId) => boolean
  /** Runs `work` in a fiber of its own and sends the text it gives. The id must not be in flight. */
  readonly start: (id: RequestId, work: Effect.Effect<string>) => Effect.Effect<void>
  /** Stops that request for good: it gets no answer. Unknown, answered and stopped ones are left alone. */
  readonly cancel: (id: RequestId) => void
  /** Waits up to `grace` for all to be answered; stops the rest within `stopBound` and answers them with an error. */
  readonly drain: (grace: Duration.Input) => Effect.Effect<void>
}

/** What stopped handlers may take to clean up: a turn's terminal event comes within a second (L14). */
const stopBound = "2 seconds"

/** What a reader that stopped reading may take for the last answers. */
const answerBound = "1 second"

const stoppedError = new JsonRpcError({
  code: ErrorCode.serverError,
  message: "the server is shutting down",
})

export const make = (send: Connection["send"]): Effect.Effect<InFlight, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const table = Pending.make<Entry>()
    const idle = Latch.makeUnsafe(true)

    const start = (id: RequestId, work: Effect.Effect<string>) =>
      Effect.suspend(() => {
        const entry: Entry = { id, state: "running" }
        table.add(id, entry)
        idle.closeUnsafe()
        const answered = Effect.sync(() => {
          entry.state = "answered"
        })
        return work.pipe(
          Effect.flatMap((text) => send([text])),
          Effect.andThen(answered),
          // Nobody is left to read the answer; the end of input that goes with it ends the rest.
          Effect.catch((closed) => Effect.logDebug(`answer dropped: ${closed.reason}`)),
          Effect.forkIn(scope, { startImmediately: true }),
          Effect.map((fiber) => {
            entry.fiber = fiber
            if (entry.state === "cancelled") fiber.interruptUnsafe()
            fiber.addObserver(() => {
              table.take(id)
              if (table.size === 0) idle.openUnsafe()
            })
          }),
        )
      })

    const cancel = (id: RequestId) => {
      const entry = table.get(id)
      if (entry?.state !== "running") return
      entry.state = "cancelled"
      entry.fiber?.interruptUnsafe()
    }

    const stop = Effect.suspend(() => {
      const entries = table.values()
      const stopped = entries.filter((entry) => entry.state === "running")
      for (const entry of stopped) entry.state = "stopped"
      const fibers = entries.flatMap((entry) => entry.fiber ?? [])
      return Effect.timeoutOption(Fiber.interruptAll(fibers), stopBound).pipe(
        Effect.andThen(
          Effect.timeoutOption(
            send(stopped.map(({ id }) => failureText(id, stoppedError))),
            answerBound,
          ),
        ),
        Effect.asVoid,
        Effect.catch((closed) => Effect.logDebug(`answers dropped: ${closed.reason}`)),
      )
    })

    return {
      get size() {
        return table.size
      },
      has: (id) => table.get(id) !== undefined,
      start,
      cancel,
      drain: (grace) =>
        Effect.flatMap(Effect.timeoutOption(idle.await, grace), (done) =>
          done._tag === "Some" ? Effect.void : stop,
        ),
    }
  })
