/** How the sandbox says no before anything ran. */
import { CommandNotStarted } from "../process/Command.ts"

/** A refusal that names what is in the way. */
export const refused = (message: string): CommandNotStarted =>
  new CommandNotStarted({ reason: "Sandbox", message })
