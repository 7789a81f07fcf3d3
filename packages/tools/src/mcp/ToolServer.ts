/**
 * One tool server over its restarts: started when first needed, once for all callers that wait; started again when it is
 * next needed after it ended, with a delay that grows with its failures; ended with its scope (L8).
 *
 * Owns the time limits. Time that a person takes to answer the server's question does not count. Knows nothing of the
 * wire, and fails only with `ToolServerError`.
 *
 *     idle --first need--> starting --connected--> running --ended--> idle (next need starts it, after the delay)
 *                             +------failed or start-up time over------^
 */
import type { McpServer } from "@colloquy/core/ConversationSettings"
import { ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as QuestionRouter from "./QuestionRouter.ts"
import { type AskPerson } from "./ServerRequests.ts"
import type { ServerTool } from "./ServerTools.ts"
import {
  type Ask,
  type ProgressReport,
  type ToolConnection,
  ToolServerError,
} from "./ToolConnection.ts"
import type { CallResult } from "./ToolOutput.ts"

/** Starts the server and connects to it; the connection lasts until the scope closes. */
export type Connect = (
  ask: AskPerson,
) => Effect.Effect<ToolConnection, ToolServerError, Scope.Scope>

/** A tool server, running or not. */
export interface ToolServer {
  /** Its tools. Starts it when it is not running. Takes at most the start-up time. */
  readonly tools: Effect.Effect<ReadonlyArray<ServerTool>, ToolServerError>
  /** Starts it when it is not running, then calls. An interrupt cancels the call at the server without waiting for it. `progress` gets what the server reports of the call until it ends. */
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>> | undefined,
    ask: Ask,
    progress?: (report: ProgressReport) => void,
  ) => Effect.Effect<CallResult, ToolServerError>
  /** Likewise, for any request. */
  readonly request: (
    method: string,
    params: Readonly<Record<string, unknown>>,
    ask: Ask,
  ) => Effect.Effect<CallResult, ToolServerError>
}

/**
 * How long after a failure the server is not started again. A server that ended after it had worked is started at once; one
 * that does not start would take its start-up time from every request of a turn.
 */
export const restartDelay = (failures: number, hadStarted: boolean): Duration.Duration => {
  const [first, unit] = hadStarted ? [failures - 2, 1] : [failures - 1, 15]
  return first < 0 ? Duration.zero : Duration.seconds(Math.min(unit * 2 ** first, 300))
}

/** One run of the server, from its start to its end. */
interface Run {
  /** The connection, once the server has started. */
  readonly ready: Deferred.Deferred<ToolConnection, ToolServerError>
  /** Completed when the run is over and its failure is counted. */
  readonly over: Deferred.Deferred<void>
}

interface Failed {
  readonly count: number
  readonly retryAtMs: number
  readonly message: string
}

type Limits = Pick<McpServer, "startupTimeout" | "toolTimeout">

const seconds = (duration: Duration.Duration): string => `${Duration.toSeconds(duration)} s`

const fail = (message: string) => Effect.fail(new ToolServerError({ message }))

class RestartableServer implements ToolServer {
  readonly tools: ToolServer["tools"]
  private readonly name: string
  private readonly limits: Limits
  private readonly scope: Scope.Scope
  private readonly questions: QuestionRouter.QuestionRouter
  private readonly start: Effect.Effect<ToolConnection, ToolServerError, Scope.Scope>
  /** The running server. Another caller's interrupt does not affect it, because it runs in its own fiber. */
  private readonly connection: Effect.Effect<ToolConnection, ToolServerError> = Effect.suspend(() =>
    this.connect(this.current),
  )
  private current: Run | undefined
  private failed: Failed | undefined

  constructor(name: string, limits: Limits, connect: Connect, scope: Scope.Scope) {
    this.name = name
    this.limits = limits
    this.scope = scope
    this.questions = QuestionRouter.make(name)
    this.tools = Effect.map(this.connection, ({ tools }) => tools)
    this.start = connect(this.questions.ask).pipe(
      Effect.timeoutOrElse({
        duration: limits.startupTimeout,
        orElse: () => fail(`it did not start within ${seconds(limits.startupTimeout)}`),
      }),
    )
  }

  readonly call: ToolServer["call"] = (tool, args, ask, progress) =>
    this.send(ToolsCall._tag, ({ call }) => call(tool, args, progress), ask)

  readonly request: ToolServer["request"] = (method, params, ask) =>
    this.send(method, ({ request }) => request(method, params), ask)

  private send(
    method: string,
    run: (connection: ToolConnection) => Effect.Effect<CallResult, ToolServerError>,
    ask: Ask,
  ): Effect.Effect<CallResult, ToolServerError> {
    const { clock, during } = this.questions
    const { toolTimeout } = this.limits
    return Effect.flatMap(this.connection, (connection) => {
      const { ended, isOver } = connection
      const gone = Effect.flatMap(ended, (reason) => fail(reason))
      return Effect.raceFirst(run(connection), gone).pipe(
        // The end of the server also fails the call, with a message that does not say why it ended.
        Effect.catch((error) => (isOver() ? gone : Effect.fail(error))),
        during(ask),
        clock.timeout(toolTimeout, () =>
          fail(`timed out awaiting ${method} after ${seconds(toolTimeout)}`),
        ),
        Effect.tap(() => Effect.sync(() => (this.failed = undefined))),
      )
    })
  }

  private connect(current: Run | undefined): Effect.Effect<ToolConnection, ToolServerError> {
    if (current !== undefined && !Deferred.isDoneUnsafe(current.over)) {
      return Effect.flatMap(Deferred.await(current.ready), (running) =>
        running.isOver()
          ? Effect.andThen(Deferred.await(current.over), this.connection)
          : Effect.succeed(running),
      )
    }
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { failed } = this
      if (failed !== undefined && now < failed.retryAtMs) {
        const wait = Math.ceil((failed.retryAtMs - now) / 1_000)
        return fail(`${failed.message}; it is not started again for ${wait} s`)
      }
      // Another fiber may have started a run while this one read the clock.
      if (this.current !== current) return this.connection
      const run: Run = { ready: Deferred.makeUnsafe(), over: Deferred.makeUnsafe() }
      this.current = run
      return Effect.flatMap(
        Effect.forkIn(this.run(run), this.scope, { startImmediately: true }),
        (fiber) => {
          // No finalizer of the fiber: where the scope has closed, it never starts and runs none.
          fiber.addObserver(() => {
            Deferred.doneUnsafe(run.ready, fail("it was ended"))
            Deferred.doneUnsafe(run.over, Effect.void)
          })
          return Deferred.await(run.ready)
        },
      )
    })
  }

  /** From the start to the end, in its own scope: everything of a run ends with it. */
  private run({ over, ready }: Run): Effect.Effect<void> {
    const end = (message: string, hadStarted: boolean) =>
      Effect.logWarning(
        hadStarted ? message : `the tool server \`${this.name}\` failed to start: ${message}`,
      ).pipe(
        Effect.andThen(this.countFailure(message, hadStarted)),
        Effect.andThen(Deferred.succeed(over, undefined)),
      )
    return Effect.scoped(
      Effect.matchEffect(this.start, {
        onFailure: (error) =>
          Effect.andThen(end(error.message, false), Deferred.fail(ready, error)),
        onSuccess: (connection) =>
          Deferred.succeed(ready, connection).pipe(
            Effect.andThen(connection.ended),
            Effect.flatMap((reason) => end(reason, true)),
          ),
      }),
    ).pipe(Effect.asVoid)
  }

  private countFailure(message: string, hadStarted: boolean): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const count = (this.failed?.count ?? 0) + 1
      const delay = Duration.toMillis(restartDelay(count, hadStarted))
      this.failed = { count, retryAtMs: now + delay, message }
    })
  }
}

/**
 * Starts nothing yet.
 *
 * @param name as configured; part of every question
 * @param connect starts the server; interrupted after the start-up time
 */
export const make = Effect.fnUntraced(function* (
  name: string,
  server: Limits,
  connect: Connect,
): Effect.fn.Return<ToolServer, never, Scope.Scope> {
  return new RestartableServer(name, server, connect, yield* Effect.scope)
})
