/** Runs the till; apart from it, so that its test can import it. */
import { Effect } from "effect"
import { main } from "./till.ts"

await Effect.runPromise(main)
