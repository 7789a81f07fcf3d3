/**
 * What V8 keeps resident beside the live heap. Its defaults suit a page that is looked at, not a server that stays up.
 */
import { setFlagsFromString } from "node:v8"

/**
 * Limits it. Called when the first conversation is about to begin: the start-up has grown the young generation to 8 MB by
 * then, of which half is in use at a time.
 *
 * - By default the young generation doubles up to 128 MB wherever much survives one collection, as in a burst of
 *   conversations, and stays resident; a server that handles small messages gains nothing by it. The flag for the limit
 *   itself has an effect only on the command line of Node.
 * - All functions of a turn are optimised at about the same turn, and by default the memory of each finished job is freed
 *   by a task that waits behind the other jobs, in an arena of another thread that is never given back: 50 MB.
 */
export const limitProcessMemory = (): void => {
  setFlagsFromString("--semi-space-growth-factor=1")
  setFlagsFromString("--no-maglev-destroy-on-background")
}
