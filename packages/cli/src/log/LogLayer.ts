/** The logger. Apart from the lines of the log, because a logger needs modules that the response to `initialize` does not. */
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import { levelOf } from "./StderrLog.ts"

/** Where the log is written, and how much of it. */
export interface LogOptions {
  /** Writes one line. */
  readonly write: (line: string) => void
  /** The value of `COLLOQUY_LOG`. */
  readonly level: string | undefined
}

/** Provides the logger and its minimum level. */
export const layer = ({ level, write }: LogOptions): Layer.Layer<never> =>
  Layer.merge(
    Logger.layer([Logger.map(Logger.formatLogFmt, write)]),
    Layer.succeed(References.MinimumLogLevel, levelOf(level)),
  )
