/**
 * What may happen to a process from outside of its program: signals and errors nobody caught.
 *
 * - SIGTERM, SIGINT and SIGHUP start the same shutdown as the end of the input; a second one exits at once.
 * - An uncaught exception means that some code stopped half way, so no state can be trusted: it is told in one line,
 *   the shutdown starts and the exit code is 1.
 * - An unhandled rejection is a promise whose result nobody waits for. Nothing here depends on such a one, so it is
 *   told in one line and the server goes on (L13).
 */

import { errorLine } from "../log/ErrorLine.ts"

/** 128 + the number of the signal. */
const signalCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export interface GuardOptions {
  /** Starts the orderly shutdown. */
  readonly stop: () => void
  /** Writes one line on stderr. */
  readonly write: (line: string) => void
  /** How long the shutdown may take before the process exits all the same. */
  readonly maxShutdownMs: number
}

/** Installs the handlers for the rest of the process. The result gives the exit code: 0 until something happens. */
export const install = (options: GuardOptions): (() => number) => {
  let code = 0
  const begin = (exitCode: number) => {
    if (code !== 0) process.exit(code)
    code = exitCode
    setTimeout(() => {
      options.write("colloquy: the shutdown took too long")
      process.exit(code)
    }, options.maxShutdownMs).unref()
    options.stop()
  }
  for (const [signal, exitCode] of Object.entries(signalCodes)) {
    process.on(signal, () => begin(exitCode))
  }
  process.on("uncaughtException", (error) => {
    options.write(`colloquy: uncaught exception, shutting down: ${errorLine(error)}`)
    begin(1)
  })
  process.on("unhandledRejection", (reason) => {
    options.write(`colloquy: unhandled rejection: ${errorLine(reason)}`)
  })
  return () => code
}
