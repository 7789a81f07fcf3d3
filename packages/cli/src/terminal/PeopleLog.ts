/** The log of a command for people. */
import type { Environment } from "../machine/Environment.ts"

/**
 * The environment with the level of the log for a command for people: they are shown warnings and failures as what they are,
 * and need no second report in a log line. Where `COLLOQUY_LOG` is set, it counts.
 */
export const forPeople = (environment: Environment): Environment => ({
  ...environment,
  logLevel: environment.logLevel ?? "error",
})
