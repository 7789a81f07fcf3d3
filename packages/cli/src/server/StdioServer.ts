/**
 * A server on stdin and stdout until its client has left, whatever it speaks: what it runs over, and how it ends.
 *
 * Keeps L9: stdout is taken before anything else is read, all else goes to stderr, and the end of stdin, a signal or
 * a client that no longer reads ends the process within its bound. Exit codes: 0 the client left, 1 the configuration
 * makes no sense or something broke, 129, 130 and 143 after a signal.
 */
import type { Connection } from "@colloquy/protocol/Connection"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import { takeStdout } from "@colloquy/transport-stdio/Stdout"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type { Writable } from "node:stream"
import * as Application from "../Application.ts"
import type { Launch } from "../args/Args.ts"
import * as Environment from "../machine/Environment.ts"
import { errorLine } from "../log/ErrorLine.ts"
import * as ProcessGuard from "../machine/ProcessGuard.ts"
import * as Startup from "./Startup.ts"
import * as StderrLog from "../log/StderrLog.ts"

/** What a shutdown may take beyond the grace of its turns: writing what was answered, closing what is open. */
const shutdownSlackMs = 10_000

export interface StdioServer {
  /** Who makes conversations here, as their files tell it. */
  readonly program: Application.Program
  /** Serves the connection until its end. */
  readonly serve: (
    connection: Connection,
    startup: Startup.Startup,
  ) => Effect.Effect<void, never, Application.Services>
}

const serveOn = (
  { program, serve }: StdioServer,
  startup: Startup.Startup,
  environment: Environment.Environment,
  output: Writable,
  stopped: Effect.Effect<void>,
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { max_line_bytes: maxLineBytes } = startup.options
      const connection = yield* StdioConnection.make({
        input: process.stdin,
        output,
        maxLineSetting: "max_line_bytes",
        ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
      })
      // A signal may come after the end of the input, which the connection no longer sees then.
      const broken = Effect.raceFirst(connection.broken ?? Effect.never, stopped)
      yield* serve({ ...connection, broken }, startup)
    }),
  ).pipe(Effect.provide(Application.layer(program, startup, environment)))

/** Serves until the client has left and then ends the process. Returns only when nothing could be started. */
export const run = async (server: StdioServer, launch: Launch): Promise<number> => {
  const output = takeStdout()
  const write = StderrLog.stderrLines()
  const environment = Environment.read(launch.directory)
  const startup = await Effect.runPromiseExit(Startup.load(environment, launch))
  if (Exit.isFailure(startup)) {
    write(Startup.messageOf(startup.cause))
    return 1
  }
  const { options, warnings, missingProvider } = startup.value
  const level = StderrLog.levelWarning(environment.logLevel)
  for (const warning of level === undefined ? warnings : [level, ...warnings]) {
    write(`colloquy: ${warning}`)
  }
  if (missingProvider !== undefined) write(`colloquy: ${missingProvider}`)
  const stopped = Latch.makeUnsafe(false)
  const exitCode = ProcessGuard.install({
    // The end of the input is the one way in which a server ends.
    stop: () => {
      stopped.openUnsafe()
      process.stdin.destroy()
    },
    write,
    maxShutdownMs: (options.shutdown_grace_ms ?? 0) + shutdownSlackMs,
  })
  const exit = await Effect.runPromiseExit(
    Effect.provide(
      serveOn(server, startup.value, environment, output, stopped.await),
      StderrLog.layer(write, StderrLog.levelOf(environment.logLevel)),
    ),
  )
  if (Exit.isFailure(exit))
    write(`colloquy: the server failed: ${errorLine(Cause.squash(exit.cause))}`)
  // Not by running dry: a model's connection or a timer must not keep the process when the client is gone (L8).
  return process.exit(Exit.isFailure(exit) ? 1 : exitCode())
}
