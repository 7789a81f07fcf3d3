/**
 * One tool server over its lives: started when first needed, once for all who wait; started again on the next need
 * after it died, not faster than its failures allow; ended with its scope (L8).
 *
 * Owns the limits in time. Time that a person takes to answer the server's question is not the server's. Knows nothing
 * of the wire, and never fails but with `ToolServerError`.
 */
import type { McpServer } from "@colloquy/core/ConversationSettings"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type AskPerson } from "./ServerRequests.ts"
import type { ServerTool } from "./ServerTools.ts"
import { type Ask, type ToolConnection, ToolServerError } from "./ToolConnection.ts"
import type { CallResult } from "./ToolOutput.ts"
import * as PausableTimeout from "./PausableTimeout.ts"

export type Connect = (
  ask: AskPerson,
) => Effect.Effect<ToolConnection, ToolServerError, Scope.Scope>

export interface ToolServer {
  /** Its tools; starts it when it is not running. Takes at most the start-up time. */
  readonly tools: Effect.Effect<ReadonlyArray<ServerTool>, ToolServerError>
  /** Starts it when it is not running, then calls. Interrupted, it tells the server and does not wait for it. */
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>> | undefined,
    ask: Ask,
  ) => Effect.Effect<CallResult, ToolServerError>
}

/**
 * How long after a failure nobody tries again. A server that died after it had worked is started at once; one that
 * does not start would take its start-up time from every request of a turn.
 */
export const restartDelay = (failures: number, hadStarted: boolean): Duration.Duration => {
  const [first, unit] = hadStarted ? [failures - 2, 1] : [failures - 1, 15]
  return first < 0 ? Duration.zero : Duration.seconds(Math.min(unit * 2 ** first, 300))
}

/** One life of the server. */
interface Life {
  readonly ready: Deferred.Deferred<ToolConnection, ToolServerError>
  /** Done when the life is over and its failure is counted. */
  readonly over: Deferred.Deferred<void>
}

interface Failed {
  readonly count: number
  readonly retryAtMs: number
  readonly message: string
}

const seconds = (duration: Duration.Duration): string => `${Duration.toSeconds(duration)} s`

const fail = (message: string) => Effect.fail(new ToolServerError({ message }))

/** The calls of one asker that run. */
interface Running {
  calls: number
  readonly over: Deferred.Deferred<void>
}

const cancel = { action: "cancel" } as const

/**
 * Puts a server's questions to whoever's calls run. When those are several nobody can tell whose question it is, and
 * it is cancelled; a question ends with the last call it can belong to (L14).
 */
const makeAsking = (name: string) => {
  const running = new Map<Ask, Running>()
  const clock = PausableTimeout.makePauses()
  const ask: AskPerson = (question) =>
    Effect.suspend(() => {
      const [only, ...others] = running
      if (only === undefined || others.length > 0) return Effect.succeed(cancel)
      const [asker, { over }] = only
      return Effect.raceFirst(
        clock.pause(asker({ server: name, ...question })),
        Effect.as(Deferred.await(over), cancel),
      )
    })
  const enter = (asker: Ask) =>
    Effect.sync(() => {
      const entry = running.get(asker) ?? { calls: 0, over: Deferred.makeUnsafe<void>() }
      entry.calls++
      running.set(asker, entry)
      return entry
    })
  const leave = (asker: Ask, entry: Running) =>
    Effect.suspend(() => {
      if (--entry.calls > 0) return Effect.void
      running.delete(asker)
      return Effect.asVoid(Deferred.succeed(entry.over, undefined))
    })
  const during =
    (asker: Ask) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        enter(asker),
        () => effect,
        (entry) => leave(asker, entry),
      )
  return { ask, during, clock }
}

/**
 * @param name as configured; part of every question
 * @param connect starts the server; given up after the start-up time
 */
export const make = Effect.fnUntraced(function* (
  name: string,
  server: Pick<McpServer, "startupTimeout" | "toolTimeout">,
  connect: Connect,
): Effect.fn.Return<ToolServer, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const asking = makeAsking(name)
  let life: Life | undefined
  let failed: Failed | undefined

  const note = (message: string, hadStarted: boolean) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const count = (failed?.count ?? 0) + 1
      const delay = Duration.toMillis(restartDelay(count, hadStarted))
      failed = { count, retryAtMs: now + delay, message }
    })

  const start = connect(asking.ask).pipe(
    Effect.timeoutOrElse({
      duration: server.startupTimeout,
      orElse: () => fail(`it did not start within ${seconds(server.startupTimeout)}`),
    }),
  )

  /** From the start to the end, in a scope of its own: what a life leaves behind ends with it. */
  const live = (own: Life): Effect.Effect<void> => {
    const end = (message: string, hadStarted: boolean) =>
      Effect.logWarning(
        hadStarted ? message : `the tool server \`${name}\` failed to start: ${message}`,
      ).pipe(
        Effect.andThen(note(message, hadStarted)),
        Effect.andThen(Deferred.succeed(own.over, undefined)),
      )
    return Effect.scoped(
      Effect.matchEffect(start, {
        onFailure: (error) =>
          Effect.andThen(end(error.message, false), Deferred.fail(own.ready, error)),
        onSuccess: (connection) =>
          Deferred.succeed(own.ready, connection).pipe(
            Effect.andThen(connection.ended),
            Effect.flatMap((reason) => end(reason, true)),
          ),
      }),
    ).pipe(
      // Also when the scope of the server ended while it started.
      Effect.ensuring(Deferred.fail(own.ready, new ToolServerError({ message: "it was ended" }))),
      Effect.ensuring(Deferred.succeed(own.over, undefined)),
      Effect.asVoid,
    )
  }

  /** The running server. In the server's own fiber: who needed it first may give up without harm to others. */
  const connection: Effect.Effect<ToolConnection, ToolServerError> = Effect.gen(function* () {
    const current = life
    if (current !== undefined && !Deferred.isDoneUnsafe(current.over)) {
      const running = yield* Deferred.await(current.ready)
      if (!running.isOver()) return running
      yield* Deferred.await(current.over)
      return yield* connection
    }
    const now = yield* Clock.currentTimeMillis
    if (failed !== undefined && now < failed.retryAtMs) {
      const wait = Math.ceil((failed.retryAtMs - now) / 1_000)
      return yield* fail(`${failed.message}; it is not started again for ${wait} s`)
    }
    // Another may have begun a life while this one looked at the clock.
    if (life !== current) return yield* connection
    const own: Life = { ready: Deferred.makeUnsafe(), over: Deferred.makeUnsafe() }
    life = own
    yield* Effect.forkIn(live(own), scope, { startImmediately: true })
    return yield* Deferred.await(own.ready)
  })

  return {
    tools: Effect.map(connection, ({ tools }) => tools),
    call: (tool, args, ask) =>
      Effect.gen(function* () {
        const { call, ended, isOver } = yield* connection
        const gone = Effect.flatMap(ended, (reason) => fail(reason))
        const result = yield* Effect.raceFirst(call(tool, args), gone).pipe(
          // The end of the server also fails the call, in words that do not say why it ended.
          Effect.catch((error) => (isOver() ? gone : Effect.fail(error))),
          asking.during(ask),
          asking.clock.timeout(server.toolTimeout, () =>
            fail(`timed out awaiting tools/call after ${seconds(server.toolTimeout)}`),
          ),
        )
        failed = undefined
        return result
      }),
  }
})
