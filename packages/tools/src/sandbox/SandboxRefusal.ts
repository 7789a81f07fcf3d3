/** The error with which the sandbox refuses to start a command. */
import { CommandNotStarted } from "../process/Command.ts"

/** A refusal; the message names the obstacle. */
export const sandboxRefused = (message: string): CommandNotStarted =>
  new CommandNotStarted({ reason: "Sandbox", message })
