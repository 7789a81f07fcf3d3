/** Runs the program; apart from it, so that its test can import it. */
import { Effect } from "effect"
import { main } from "./turn.ts"

await Effect.runPromise(main)
