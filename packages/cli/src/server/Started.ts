/** The start of every serving command: loads the configuration, and says on stderr what is wrong with it. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Launch } from "../args/Args.ts"
import * as StderrLog from "../log/StderrLog.ts"
import * as Environment from "../machine/Environment.ts"
import * as Startup from "./Startup.ts"

/** What a serving process knows before it serves. */
export interface Started {
  readonly startup: Startup.Startup
  readonly environment: Environment.Environment
  /** Writes one line of the log. */
  readonly write: (line: string) => void
}

/** Loads the configuration. Undefined if it is not valid: the error was written. */
export const start = async (
  launch: Launch,
  options: {
    /** True: the command fails without a provider and says why itself. Default false: a warning is written. */
    readonly needsProvider?: boolean
    /** Makes the line of the error. Default: the message begins with the name of the program. */
    readonly errorOf?: (message: string) => string
  } = {},
): Promise<Started | undefined> => {
  const write = StderrLog.stderrLines()
  const environment = Environment.read(launch.directory)
  const startup = await Effect.runPromiseExit(Startup.load(environment, launch))
  if (Exit.isFailure(startup)) {
    write(Startup.messageOf(startup.cause, options.errorOf))
    return undefined
  }
  const { missingProvider, warnings } = startup.value
  const level = StderrLog.levelWarning(environment.logLevel)
  for (const warning of level === undefined ? warnings : [level, ...warnings]) {
    write(`colloquy: ${warning}`)
  }
  if (missingProvider !== undefined && options.needsProvider !== true)
    write(`colloquy: ${missingProvider}`)
  return { startup: startup.value, environment, write }
}
