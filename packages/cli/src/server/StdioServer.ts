/**
 * Serves any dialect on stdin and stdout until the client disconnects, and ends the process.
 *
 * Keeps L9: stdout is reserved before anything else runs, all other output goes to stderr, and the end of stdin, a signal or
 * a client that no longer reads ends the process within a time limit. Exit codes: 0 the client disconnected, 1 the
 * configuration is not valid or the server failed, 129, 130 and 143 after a signal.
 */
import type { StoredSettings } from "@colloquy/core/StoredSettings"
import type { Connection } from "@colloquy/protocol/Connection"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import { takeStdout } from "@colloquy/transport-stdio/Stdout"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import type { Writable } from "node:stream"
import type { Launch } from "../args/Args.ts"
import { errorLine } from "../log/ErrorLine.ts"
import * as ProcessGuard from "../machine/ProcessGuard.ts"
import { start, type Started } from "./Started.ts"

/** Time limit of a shutdown after the grace for turns: it writes the last responses and releases resources. */
const shutdownSlackMs = 10_000

/** What serving a connection needs besides it. */
export interface Serving extends Started {
  /** Closes the connection. It is closed in any case, but what serves it may have to be released after that. */
  readonly close: Effect.Effect<void>
  /** True: the conversations are observed also where no table `telemetry` is configured. Default false. */
  readonly measures?: boolean
  /** The address that the leases of conversations name from now on. Default: none. */
  readonly url?: () => string | undefined
  /** See `ConversationsOptions`. Default: a conversation is loaded with the settings that it was stored with. */
  readonly storedSettings?: (stored: StoredSettings) => StoredSettings
}

/** Serves the connection until its end: what differs between the serving commands. */
export type Serve = (connection: Connection, serving: Serving) => Effect.Effect<void>

const serveOn = (
  serve: Serve,
  serving: Omit<Serving, "close">,
  output: Writable,
  stopped: Effect.Effect<void>,
) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const close = Scope.close(scope, Exit.void)
    const { max_line_bytes: maxLineBytes } = serving.startup.options
    yield* StdioConnection.make({
      input: process.stdin,
      output,
      maxLineSetting: "max_line_bytes",
      ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
    }).pipe(
      Scope.provide(scope),
      Effect.flatMap((connection) => {
        // A signal may come after the end of the input, which the connection no longer sees then.
        const broken = Effect.raceFirst(connection.broken ?? Effect.never, stopped)
        return serve({ ...connection, broken }, { ...serving, close })
      }),
      Effect.ensuring(close),
    )
  })

/** Serves until the client disconnects and then ends the process. Resolves only if the server could not start. */
export const run = async (serve: Serve, launch: Launch): Promise<number> => {
  const output = takeStdout()
  const started = await start(launch)
  if (started === undefined) return 1
  const { startup, write } = started
  const stopped = Latch.makeUnsafe(false)
  const exitCode = ProcessGuard.install({
    // A server always ends by the end of its input.
    stop: () => {
      stopped.openUnsafe()
      process.stdin.destroy()
    },
    write,
    maxShutdownMs: (startup.options.shutdown_grace_ms ?? 0) + shutdownSlackMs,
  })
  const exit = await Effect.runPromiseExit(
    serveOn(serve, started, output, stopped.await).pipe(
      // Nothing exports the spans of this program, and each costs a call some microseconds.
      Effect.provideService(References.TracerEnabled, false),
    ),
  )
  if (Exit.isFailure(exit))
    write(`colloquy: the server failed: ${errorLine(Cause.squash(exit.cause))}`)
  // Exits explicitly: an open connection or a timer must not keep the process alive without a client (L8).
  return process.exit(Exit.isFailure(exit) ? 1 : exitCode())
}
