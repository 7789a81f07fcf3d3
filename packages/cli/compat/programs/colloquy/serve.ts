import { Agent } from "colloquy"
import { Effect } from "effect"
import { Shop, till } from "./till.ts"

await Effect.runPromise(Agent.serve(till).pipe(Effect.provide(Shop.layer)))
