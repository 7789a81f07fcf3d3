/**
 * The size of V8's young generation. By default it doubles up to 128 MB wherever much survives one collection, as in a burst
 * of conversations, and stays resident; a server that handles small messages gains nothing by it.
 */
import { setFlagsFromString } from "node:v8"

/**
 * Keeps the young generation at the size that it has. Called when the first conversation is about to begin: the start-up
 * has grown it to 8 MB by then, of which half is in use at a time. The flag for the limit itself has an effect only on
 * the command line of Node.
 */
export const keepYoungGeneration = (): void => setFlagsFromString("--semi-space-growth-factor=1")
