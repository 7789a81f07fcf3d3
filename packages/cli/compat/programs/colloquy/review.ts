import { Agent } from "colloquy"
import { Effect, Schema } from "effect"

const Verdict = Schema.Struct({
  verdict: Schema.Literals(["approve", "reject"]),
  remarks: Schema.Array(Schema.String),
})

/** Reviews files at the same time, each in a conversation of its own, all within one budget. */
export const review = Effect.fn("review")(function* (
  agent: Agent.Agent,
  files: ReadonlyArray<string>,
) {
  const chat = yield* agent.open("review", { budget: { tokens: 50_000, time: "2 minutes" } })
  const one = Effect.fn(function* (file: string) {
    const child = yield* chat.child({ name: file })
    const { value } = yield* child.ask(`Review ${file}.`, { schema: Verdict }).result
    return { file, ...value }
  })
  return yield* Effect.forEach(files, one, { concurrency: 4 })
})
