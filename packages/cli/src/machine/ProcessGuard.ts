/**
 * Handles signals and uncaught errors of a serving process.
 *
 * - SIGTERM, SIGINT and SIGHUP start the same shutdown as the end of the input; a second one exits at once.
 * - After an uncaught exception the state cannot be trusted, because some code stopped half way: it is logged in one line,
 *   the shutdown starts and the exit code is 1.
 * - An unhandled rejection belongs to a promise that no code awaits, so no state depends on it: it is logged in one line
 *   and the server continues (L13).
 *
 *     running --signal, exception--> shutting down --done, second signal, time limit--> exited
 */
import { errorLine } from "../log/ErrorLine.ts"

/** 128 + the number of the signal. */
const signalCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** How the process shuts down. */
export interface GuardOptions {
  /** Starts the shutdown. */
  readonly stop: () => void
  /** Writes one line on stderr. */
  readonly write: (line: string) => void
  /** Time limit of the shutdown; the process exits with 1 when it has elapsed. */
  readonly maxShutdownMs: number
  /** What the shutdown waits for at this moment, for the line that says why it was cut; absent if that is not known. */
  readonly waitsFor?: () => string | undefined
}

const timedOutLine = (awaited: string | undefined): string =>
  awaited === undefined
    ? "colloquy: shutdown timed out"
    : `colloquy: shutdown timed out, waiting for ${awaited}`

/** Installs the handlers for the lifetime of the process. Returns a function for the exit code: 0 until a shutdown starts. */
export const install = (options: GuardOptions): (() => number) => {
  let code = 0
  const startShutdown = (exitCode: number) => {
    if (code !== 0) process.exit(code)
    code = exitCode
    setTimeout(() => {
      options.write(timedOutLine(options.waitsFor?.()))
      process.exit(1)
    }, options.maxShutdownMs).unref()
    options.stop()
  }
  for (const [signal, exitCode] of Object.entries(signalCodes)) {
    process.on(signal, () => startShutdown(exitCode))
  }
  process.on("uncaughtException", (error) => {
    options.write(`colloquy: uncaught exception, shutting down: ${errorLine(error)}`)
    startShutdown(1)
  })
  process.on("unhandledRejection", (reason) => {
    options.write(`colloquy: unhandled rejection: ${errorLine(reason)}`)
  })
  return () => code
}
